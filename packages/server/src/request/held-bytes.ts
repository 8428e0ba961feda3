// What is in memory for clients, and stays there until they go on: bounded for all of them together.

/** What is held for one client. */
export interface Held {
  /** So many bytes are held for it now. */
  now(bytes: number): void;
  /** Nothing is any more. */
  end(): void;
}

interface Entry {
  bytes: number;
  /** Since when, by the monotonic clock. */
  since: number;
  readonly cut: () => void;
}

/** Milliseconds after which a client counts as slow: one that is in the middle of something large is not cut for it. */
const slowAfter = 1000;

export class HeldBytes {
  readonly #maxBytes: number;
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** For how many clients there may be something. */
  get size(): number {
    return this.#entries.size;
  }

  /** `cut` lets go of what is held; it is called when that is too much for all together. */
  hold(cut: () => void): Held {
    const entry: Entry = { bytes: 0, since: 0, cut };
    this.#entries.add(entry);
    return {
      now: (bytes) => this.#now(entry, bytes),
      end: () => {
        this.#now(entry, 0);
        this.#entries.delete(entry);
      },
    };
  }

  #now(entry: Entry, bytes: number): void {
    if (!this.#entries.has(entry)) return;
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    entry.since = performance.now();
    while (this.#bytes > this.#maxBytes) this.#cutLargest();
  }

  /** The one that holds most goes first, of those that are slow if there are any. */
  #cutLargest(): void {
    const slowSince = performance.now() - slowAfter;
    const largest = this.#largest(({ since }) => since <= slowSince) ?? this.#largest(() => true);
    if (largest === undefined) return;
    this.#bytes -= largest.bytes;
    this.#entries.delete(largest);
    largest.cut();
  }

  #largest(among: (entry: Entry) => boolean): Entry | undefined {
    let largest: Entry | undefined;
    for (const entry of this.#entries)
      if (among(entry) && entry.bytes > (largest?.bytes ?? 0)) largest = entry;
    return largest;
  }
}
