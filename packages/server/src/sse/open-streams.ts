// The event streams that are open: how many there may be, and how much may wait for readers that do not read.
import { systemClock } from "@andante/core/internal";
import { StreamLimitError } from "../errors/request-errors.ts";
import { HeldBytes } from "../request/held-bytes.ts";

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

/** A stream holds one event that is not read yet, of up to 16 MiB; a thousand of them would be 16 GiB. */
const defaultMaxWaiting = 64 * 1024 * 1024;

export class OpenStreams {
  readonly #limit: number;
  readonly #waiting: HeldBytes;

  constructor({ limit, maxWaiting = defaultMaxWaiting }: OpenStreamsOptions) {
    this.#limit = limit;
    this.#waiting = new HeldBytes(maxWaiting);
  }

  /**
   * Takes a place or says that there is none. `cut` disconnects a reader that holds too much, or whose time is over
   * (`until`, in milliseconds since 1970; default: it has no end). It can attach again.
   */
  open(cut: () => void, until?: number): OpenStream {
    if (this.#waiting.size >= this.#limit) throw new StreamLimitError({ limit: this.#limit });
    const { now, end } = this.#waiting.hold(cut);
    const cancel = until === undefined ? undefined : systemClock.at(until, "limit", cut);
    return {
      waits: now,
      end() {
        cancel?.();
        end();
      },
    };
  }
}
