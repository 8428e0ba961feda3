// Complete request bodies that wait to be parsed, each in a turn of the event loop: clients take turns, and the bytes of
// all bodies together are bounded. The last one waits for as long as all others take.
import { ownTurn } from "@andante/core/internal";
import { BodiesLimitError } from "../errors/request-errors.ts";

interface Waiting {
  readonly bytes: number;
  resolve(): void;
  reject(error: BodiesLimitError): void;
}

interface Line {
  readonly bodies: Waiting[];
  bytes: number;
}

export class BodyQueue {
  readonly #maxBytes: number;
  /** The bodies of each client. The first client is next and moves to the end after its turn. */
  readonly #lines = new Map<string, Line>();
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
    const line = this.#lines.get(client) ?? { bodies: [], bytes: 0 };
    this.#lines.set(client, line);
    line.bodies.push({ bytes, resolve, reject });
    this.#count(line, bytes);
    // As many turns as bodies: those of bodies that lost their place are left over, and do no harm.
    void ownTurn("begin").then(() => this.#next());
    return promise;
  }

  #makeRoom(client: string, bytes: number): void {
    let [largest, most] = [client, (this.#lines.get(client)?.bytes ?? 0) + bytes];
    for (const [other, line] of this.#lines) if (line.bytes > most) [largest, most] = [other, line.bytes];
    const line = largest === client ? undefined : this.#lines.get(largest);
    const newest = line?.bodies.pop();
    if (line === undefined || newest === undefined) throw new BodiesLimitError();
    this.#count(line, -newest.bytes);
    if (line.bodies.length === 0) this.#lines.delete(largest);
    newest.reject(new BodiesLimitError());
  }

  #next(): void {
    const [first] = this.#lines;
    if (first === undefined) return;
    const [client, line] = first;
    this.#lines.delete(client);
    const body = line.bodies.shift();
    this.#count(line, -(body?.bytes ?? 0));
    if (line.bodies.length > 0) this.#lines.set(client, line);
    body?.resolve();
  }

  #count(line: Line, bytes: number): void {
    line.bytes += bytes;
    this.#bytes += bytes;
  }
}
