// The responses that are written while they are read, streams of events and exports: how many there may be, and how much
// may wait for readers that do not read.
import type { AndanteError } from "@andante/core";
import { systemClock } from "@andante/core/internal";
import { HeldBytes } from "../request/held-bytes.ts";
import { Places } from "../request/places.ts";

export interface OpenStreamsOptions {
  /** Streams at once. */
  readonly limit: number;
  /** The part of them that a client keeps while others are refused. */
  readonly share: number;
  /** The error for a client that gets no place. */
  refusal(limit: number): AndanteError;
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
  readonly #places: Places;
  readonly #waiting: HeldBytes;

  constructor({ maxWaiting = defaultMaxWaiting, ...places }: OpenStreamsOptions) {
    this.#places = new Places(places);
    this.#waiting = new HeldBytes(maxWaiting);
  }

  /**
   * Takes a place for a client, or throws. `cut` disconnects a reader that holds too much, whose place goes to another
   * client, or whose time is over (`until`, in milliseconds since 1970; default: it has no end). It can attach again.
   */
  open(client: string, cut: () => void, until?: number): OpenStream {
    const place = this.#places.take(client, cut);
    const { now, end } = this.#waiting.hold(cut);
    const cancel = until === undefined ? undefined : systemClock.at(until, "limit", cut);
    return {
      waits: now,
      end() {
        cancel?.();
        end();
        place.end();
      },
    };
  }
}
