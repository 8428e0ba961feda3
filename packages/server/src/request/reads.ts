// Expensive reads of the store, such as lists and journals: a few run at once, and clients take turns.
import { TurnQueue } from "@andante/core/internal";
import { ClientGoneError, ReadLimitError } from "../errors/request-errors.ts";
import { type Place, Places } from "./places.ts";

export interface ReadsOptions {
  /** Maximum running and waiting reads of all clients together. */
  readonly limit: number;
  /** The fraction that a client keeps while others are refused. */
  readonly share: number;
  /** Maximum concurrent reads. Default: 4. A store reads sequentially, or has a few connections. */
  readonly atOnce?: number;
}

export class Reads {
  readonly #places: Places;
  readonly #atOnce: number;
  #running = 0;
  readonly #waiting = new TurnQueue<string, () => void>();

  constructor({ limit, share, atOnce = 4 }: ReadsOptions) {
    this.#places = new Places({ limit, share, refusal: (most) => new ReadLimitError({ limit: most }) });
    this.#atOnce = atOnce;
  }

  /** Runs a read on its client's turn, unless the client has disconnected by then. */
  async run<T>(client: string, signal: AbortSignal, read: () => T | Promise<T>): Promise<T> {
    if (signal.aborted) throw new ClientGoneError();
    const place = this.#places.take(client);
    try {
      if (this.#running < this.#atOnce) this.#running += 1;
      else await this.#turn(client, signal, place);
      try {
        return await read();
      } finally {
        this.#next();
      }
    } catch (error) {
      throw signal.aborted ? new ClientGoneError() : error;
    } finally {
      place.end();
    }
  }

  #turn(client: string, signal: AbortSignal, place: Place): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(client, resolve);
    const leave = (error: Error) => {
      // Otherwise the read has started already.
      if (this.#waiting.remove(client, resolve)) reject(error);
    };
    const gone = () => leave(new ClientGoneError());
    signal.addEventListener("abort", gone);
    place.cut = () => leave(this.#places.refusal());
    return promise.finally(() => {
      signal.removeEventListener("abort", gone);
      place.cut = undefined;
    });
  }

  /** Passes the turn of a finished read to the next client. */
  #next(): void {
    const begin = this.#waiting.next();
    if (begin === undefined) this.#running -= 1;
    else begin();
  }
}
