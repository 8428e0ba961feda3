// The open event streams and exports: their number is limited, and so are the bytes that their clients have not read.
import type { AndanteError } from "@andante/core";
import { systemClock } from "@andante/core/internal";
import { HeldBytes } from "../request/held-bytes.ts";
import { Places } from "../request/places.ts";

export interface OpenStreamsOptions {
  /** Maximum concurrent streams. */
  readonly limit: number;
  /** The fraction that a client keeps while others are refused. */
  readonly share: number;
  /** The error for a client that gets no place. */
  refusal(limit: number): AndanteError;
  /** Maximum unread bytes of all streams together. Default: 64 MiB. */
  readonly maxWaiting?: number;
}

/** An open stream. */
export interface OpenStream {
  /** Sets the number of sent bytes that the client has not read. */
  waits(bytes: number): void;
  /** Ends the stream and frees its place. */
  end(): void;
}

/** A stream holds one unread event of up to 16 MiB; a thousand streams would hold 16 GiB. */
const defaultMaxWaiting = 64 * 1024 * 1024;

export class OpenStreams {
  readonly #places: Places;
  readonly #waiting: HeldBytes;

  constructor({ maxWaiting = defaultMaxWaiting, ...places }: OpenStreamsOptions) {
    this.#places = new Places(places);
    this.#waiting = new HeldBytes(maxWaiting);
  }

  /**
   * Takes a place for a client, or throws. `cut` disconnects a reader that holds too many bytes, loses its place to
   * another client, or reaches `until` (in milliseconds since 1970; default: no limit). It can reconnect.
   */
  open(client: string, cut: () => void, until?: number): OpenStream {
    const place = this.#places.take(client, cut);
    const { now, end } = this.#waiting.hold(client, cut);
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
