// Complete request bodies that wait to be parsed, each in a turn of the event loop: clients take turns, and the bytes of
// all bodies together are bounded. The last one waits for as long as all others take.
import { ownTurn, TurnQueue } from "@andante/core/internal";
import { BodiesLimitError } from "../errors/request-errors.ts";

interface Waiting {
  readonly client: string;
  readonly bytes: number;
  resolve(): void;
  reject(error: BodiesLimitError): void;
}

export class BodyQueue {
  readonly #maxBytes: number;
  readonly #waiting = new TurnQueue<string, Waiting>();
  readonly #ofClients = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Resolves in the turn in which the body is parsed. When bodies do not fit, the client with the most bytes loses its
   * newest one. A single one always fits.
   */
  turn(client: string, bytes: number): Promise<void> {
    while (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) this.#makeRoom(client, bytes);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(client, { client, bytes, resolve, reject });
    this.#count(client, bytes);
    // As many turns as bodies: those of bodies that lost their place are left over, and do no harm.
    void ownTurn("begin").then(() => this.#next());
    return promise;
  }

  #makeRoom(client: string, bytes: number): void {
    let [largest, most] = [client, (this.#ofClients.get(client) ?? 0) + bytes];
    for (const [other, held] of this.#ofClients) if (held > most) [largest, most] = [other, held];
    const newest = largest === client ? undefined : this.#waiting.removeLast(largest);
    if (newest === undefined) throw new BodiesLimitError();
    this.#count(largest, -newest.bytes);
    newest.reject(new BodiesLimitError());
  }

  #next(): void {
    const body = this.#waiting.next();
    if (body === undefined) return;
    this.#count(body.client, -body.bytes);
    body.resolve();
  }

  #count(client: string, bytes: number): void {
    const held = (this.#ofClients.get(client) ?? 0) + bytes;
    if (held > 0) this.#ofClients.set(client, held);
    else this.#ofClients.delete(client);
    this.#bytes += bytes;
  }
}
