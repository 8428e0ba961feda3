// Bytes held in memory until clients continue: one bound for all clients together.
import { ClientBytes } from "./client-bytes.ts";

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
  readonly #bytes: ClientBytes;
  readonly #entries = new Set<Entry>();

  /** `share`: the fraction that a client may hold beside complete entries, which are not cut; 0 where there are none. */
  constructor(maxBytes: number, share = 0) {
    this.#bytes = new ClientBytes(maxBytes, share);
  }

  /** The number of registered clients. */
  get size(): number {
    return this.#entries.size;
  }

  /** `cut` is called when all clients together exceed the bound, and this one its share. */
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
    const wasFull = this.#bytes.isFull;
    this.#count(entry, bytes);
    // All that could be cut was cut when the bound was reached: there is no walk for each chunk from then on.
    if (wasFull && !this.#bytes.isTooMuch(entry.client)) return;
    while (this.#bytes.isFull && this.#cutLargest());
  }

  #count(entry: Entry, bytes: number): void {
    this.#bytes.add(entry.client, bytes - entry.bytes);
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
      if (this.#canBeCut(entry) && among(entry) && this.#isLarger(entry, largest)) largest = entry;
    return largest;
  }

  #canBeCut({ client, bytes, isComplete }: Entry): boolean {
    return !isComplete && bytes > 0 && this.#bytes.isTooMuch(client);
  }

  #isLarger(entry: Entry, other: Entry | undefined): boolean {
    if (other === undefined) return true;
    const difference = this.#bytes.of(entry.client) - this.#bytes.of(other.client);
    return (difference || entry.bytes - other.bytes) > 0;
  }
}
