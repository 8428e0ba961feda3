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
  /** Since when, by the monotonic clock. */
  since: number;
  readonly cut: () => void;
}

/** A stream holds one event that is not read yet, of up to 16 MiB; a thousand of them would be 16 GiB. */
const defaultMaxWaiting = 64 * 1024 * 1024;
/** Milliseconds after which a reader counts as slow: one that is just reading a large event is not cut for it. */
const slowAfter = 1000;

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
    const entry: Entry = { waiting: 0, since: 0, cut };
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
    entry.since = performance.now();
    while (this.#waiting > (this.#options.maxWaiting ?? defaultMaxWaiting)) this.#cutLargest();
  }

  /** The one that holds most goes first, of those that are slow if there are any. It can attach again and continue. */
  #cutLargest(): void {
    const slowSince = performance.now() - slowAfter;
    const largest = this.#largest(({ since }) => since <= slowSince) ?? this.#largest(() => true);
    if (largest === undefined) return;
    this.#waiting -= largest.waiting;
    this.#open.delete(largest);
    largest.cut();
  }

  #largest(among: (entry: Entry) => boolean): Entry | undefined {
    let largest: Entry | undefined;
    for (const entry of this.#open)
      if (among(entry) && entry.waiting > (largest?.waiting ?? 0)) largest = entry;
    return largest;
  }
}
