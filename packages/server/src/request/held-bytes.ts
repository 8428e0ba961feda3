// Bytes held in memory until clients continue: one bound for all clients together.

/** The bytes held for one client. */
export interface Held {
  /** Sets the number of bytes held now; `sent`: those of the client, where more are reserved. */
  now(bytes: number, sent?: number): void;
  /** The client has done its part: its bytes count until `end`, and it is not cut any more. */
  complete(): void;
  /** Releases all bytes. */
  end(): void;
}

interface Entry {
  readonly client: string;
  bytes: number;
  /** Time of the last progress, by the monotonic clock. */
  since: number;
  /** Bytes that the client had sent by then. */
  sent: number;
  isComplete: boolean;
  readonly cut: Cut;
}

/** Releases the held bytes of a client, which is slow or has only the most bytes. */
type Cut = (isSlow: boolean) => void;

/** Milliseconds after which a client counts as slow: a client in the middle of a large transfer is not cut. */
const slowAfter = 1000;
/** Bytes that count as progress. With a single byte, a client that sends one now and then would never be slow. */
const progress = 32 * 1024;

export class HeldBytes {
  readonly #maxBytes: number;
  readonly #entries = new Set<Entry>();
  /** Bytes by client: of a client with several connections, those of all of them. */
  readonly #ofClients = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The number of registered clients. */
  get size(): number {
    return this.#entries.size;
  }

  /** `cut` is called when all clients together exceed the bound. */
  hold(client: string, cut: Cut): Held {
    const entry: Entry = { client, bytes: 0, since: 0, sent: 0, isComplete: false, cut };
    this.#entries.add(entry);
    return {
      now: (bytes, sent = bytes) => this.#now(entry, bytes, sent),
      complete: () => {
        entry.isComplete = true;
      },
      end: () => {
        this.#now(entry, 0, 0);
        this.#entries.delete(entry);
      },
    };
  }

  #now(entry: Entry, bytes: number, sent: number): void {
    if (!this.#entries.has(entry)) return;
    if (entry.bytes === 0 || sent >= entry.sent + progress) {
      entry.since = performance.now();
      entry.sent = sent;
    }
    this.#count(entry, bytes);
    while (this.#bytes > this.#maxBytes && this.#cutLargest());
  }

  #count(entry: Entry, bytes: number): void {
    const ofClient = (this.#ofClients.get(entry.client) ?? 0) + bytes - entry.bytes;
    if (ofClient > 0) this.#ofClients.set(entry.client, ofClient);
    else this.#ofClients.delete(entry.client);
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  /**
   * Cuts the largest of the client that holds most, slow ones first. Not the newest: clients that send a byte now and then
   * would keep all others out.
   */
  #cutLargest(): boolean {
    const slowSince = performance.now() - slowAfter;
    const slow = this.#largest(({ since }) => since <= slowSince);
    const largest = slow ?? this.#largest(() => true);
    if (largest === undefined) return false;
    this.#count(largest, 0);
    this.#entries.delete(largest);
    largest.cut(slow !== undefined);
    return true;
  }

  #largest(among: (entry: Entry) => boolean): Entry | undefined {
    let largest: Entry | undefined;
    for (const entry of this.#entries)
      if (!entry.isComplete && entry.bytes > 0 && among(entry) && this.#isLarger(entry, largest))
        largest = entry;
    return largest;
  }

  #isLarger(entry: Entry, other: Entry | undefined): boolean {
    if (other === undefined) return true;
    const ofClient = (one: Entry) => this.#ofClients.get(one.client) ?? 0;
    return (ofClient(entry) - ofClient(other) || entry.bytes - other.bytes) > 0;
  }
}
