// The event streams that are open: how many there may be, and how much may wait for readers that do not read.
import { StreamLimitError } from "../errors/request-errors.ts";

export interface OpenStreamsOptions {
  /** Streams at once. */
  readonly limit: number;
  /** Bytes that may wait for all of them together. Default: 64 MiB. */
  readonly maxWaiting?: number;
}

/** One of them. */
export interface OpenStream {
  /** So many bytes were sent and are not read yet; 0 once they are. */
  waits(bytes: number): void;
  /** The stream is over: its place is free. */
  end(): void;
}

interface Entry {
  waiting: number;
  readonly cut: () => void;
}

/** A socket has 4 MiB; streams hold one event each, which may be larger. */
const defaultMaxWaiting = 64 * 1024 * 1024;

export class OpenStreams {
  readonly #options: OpenStreamsOptions;
  readonly #open = new Set<Entry>();
  #waiting = 0;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
  }

  /** Takes a place or says that there is none. `cut` disconnects a reader that holds too much. */
  open(cut: () => void): OpenStream {
    const { limit } = this.#options;
    if (this.#open.size >= limit) throw new StreamLimitError({ limit });
    const entry: Entry = { waiting: 0, cut };
    this.#open.add(entry);
    return {
      waits: (bytes) => this.#waits(entry, bytes),
      end: () => {
        this.#waits(entry, 0);
        this.#open.delete(entry);
      },
    };
  }

  #waits(entry: Entry, bytes: number): void {
    if (!this.#open.has(entry)) return;
    this.#waiting += bytes - entry.waiting;
    entry.waiting = bytes;
    while (this.#waiting > (this.#options.maxWaiting ?? defaultMaxWaiting)) this.#cutLargest();
  }

  /** The one that holds most goes first. It can attach again and continue where it was. */
  #cutLargest(): void {
    let largest: Entry | undefined;
    for (const entry of this.#open) if (entry.waiting > (largest?.waiting ?? 0)) largest = entry;
    if (largest === undefined) return;
    this.#waiting -= largest.waiting;
    this.#open.delete(largest);
    largest.cut();
  }
}
