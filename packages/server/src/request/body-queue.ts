// Complete request bodies that wait to be parsed, each in a turn of the event loop: clients take turns, and the bytes of
// all bodies together are bounded. The last one waits for as long as all others take.
import { ownTurn, TurnQueue } from "@andante/core/internal";
import { BodiesLimitError } from "../errors/request-errors.ts";
import { ClientBytes } from "./client-bytes.ts";

interface Waiting {
  readonly client: string;
  readonly bytes: number;
  resolve(): void;
  reject(error: BodiesLimitError): void;
}

export class BodyQueue {
  readonly #waiting = new TurnQueue<string, Waiting>();
  readonly #bytes: ClientBytes;

  constructor(maxBytes: number) {
    this.#bytes = new ClientBytes(maxBytes, 0);
  }

  /**
   * Resolves in the turn in which the body is parsed. When bodies do not fit, the client with the most bytes loses its
   * newest one. A single one always fits.
   */
  turn(client: string, bytes: number): Promise<void> {
    while (!this.#bytes.isEmpty && this.#bytes.isTooMuch(client, bytes)) this.#makeRoom(client, bytes);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(client, { client, bytes, resolve, reject });
    this.#bytes.add(client, bytes);
    // As many turns as bodies: those of bodies that lost their place are left over, and do no harm.
    void ownTurn("begin").then(() => this.#next());
    return promise;
  }

  #makeRoom(client: string, bytes: number): void {
    const { largest } = this.#bytes;
    const isOwn = largest === undefined || this.#bytes.of(largest) <= this.#bytes.of(client) + bytes;
    const newest = isOwn ? undefined : this.#waiting.removeLast(largest);
    if (newest === undefined) throw new BodiesLimitError();
    this.#bytes.add(newest.client, -newest.bytes);
    newest.reject(new BodiesLimitError());
  }

  #next(): void {
    const body = this.#waiting.next();
    if (body === undefined) return;
    this.#bytes.add(body.client, -body.bytes);
    body.resolve();
  }
}
