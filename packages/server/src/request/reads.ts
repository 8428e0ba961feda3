// Expensive reads of the store, such as lists and journals: a few run at once, and clients take turns.
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
  /** Waiting reads by client. The first client is next and moves to the end after its turn. */
  readonly #waiting = new Map<string, (() => void)[]>();

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
    const line = this.#waiting.get(client) ?? [];
    this.#waiting.set(client, line);
    line.push(resolve);
    const leave = (error: Error) => {
      const index = line.indexOf(resolve);
      // The read has started already.
      if (index === -1) return;
      line.splice(index, 1);
      if (line.length === 0) this.#waiting.delete(client);
      reject(error);
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
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    const [client, line] = first;
    this.#waiting.delete(client);
    line.shift()?.();
    if (line.length > 0) this.#waiting.set(client, line);
  }
}
