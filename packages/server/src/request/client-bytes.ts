// Bytes of memory by client, and the clients that may have more of it.
//
// Any client may use free memory. When the bound is reached, a client may still use its share, so that one client cannot
// keep others out, up to a ceiling of a quarter more.

/** The part of the bound beyond it that is for clients within their share. */
const reserve = 0.25;

export class ClientBytes {
  readonly #bound: number;
  readonly #share: number;
  readonly #ofClients = new Map<string, number>();
  #total = 0;

  /** `share`: the fraction of the bound that a client may use beyond it, up to 1. With 0 the bound is the ceiling. */
  constructor(bound: number, share: number) {
    this.#bound = bound;
    this.#share = share * bound;
  }

  get isEmpty(): boolean {
    return this.#total === 0;
  }

  get isFull(): boolean {
    return this.#total > this.#bound;
  }

  /** The client with the most bytes. */
  get largest(): string | undefined {
    let [largest, most]: [string | undefined, number] = [undefined, 0];
    for (const [client, bytes] of this.#ofClients) if (bytes > most) [largest, most] = [client, bytes];
    return largest;
  }

  of(client: string): number {
    return this.#ofClients.get(client) ?? 0;
  }

  add(client: string, bytes: number): void {
    const ofClient = this.of(client) + bytes;
    if (ofClient > 0) this.#ofClients.set(client, ofClient);
    else this.#ofClients.delete(client);
    this.#total += bytes;
  }

  /** Whether a client has too much, or would have it with `more` bytes. */
  isTooMuch(client: string, more = 0): boolean {
    const total = this.#total + more;
    if (total <= this.#bound) return false;
    return this.of(client) + more > this.#share || total > this.#bound * (1 + reserve);
  }
}
