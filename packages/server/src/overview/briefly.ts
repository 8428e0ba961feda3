// Keeps what was read for a moment: many pages ask for the same, and a busy server changes all the time.
//
// What is read here is large and costs the store many reads, so that few are under way at once and not many more wait.
import type { Andante } from "@andante/core";
import { StoreBusyError } from "@andante/core/errors";

interface Kept {
  readonly value: Promise<unknown>;
  /** While it is being read, everyone who asks for it waits for the same. */
  until: number;
}

/** Keys that are kept for one Andante at once: callers that see only their own have their own. */
const most = 200;
/** Reads at once: a store reads one thing after another anyway. */
const atOnce = 4;
/** Reads that wait for their turn; more are refused. */
const mostWaiting = 100;

class Reads {
  readonly kept = new Map<string, Kept>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#running < atOnce) this.#running += 1;
    else {
      if (this.#waiting.length >= mostWaiting) throw new StoreBusyError({ limit: mostWaiting });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      // The place passes to whoever has waited longest.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

const readsOf = new WeakMap<Andante, Reads>();

/**
 * What `read` returns, or what it returned for the same key less than `milliseconds` ago. A failure is not kept. Rejects
 * when too many reads wait.
 */
export function briefly<T>(
  andante: Andante,
  key: string,
  milliseconds: number,
  read: () => Promise<T>,
): Promise<T> {
  const reads = readsOf.get(andante) ?? new Reads();
  readsOf.set(andante, reads);
  const { kept } = reads;
  const known = kept.get(key);
  // The key names what is read and how, so the value is of the type that the same caller gave it.
  if (known !== undefined && known.until > performance.now()) return known.value as Promise<T>;
  const value = reads.run(read);
  const entry: Kept = { value, until: Number.POSITIVE_INFINITY };
  const forget = () => {
    if (kept.get(key) === entry) kept.delete(key);
  };
  value.then(() => {
    entry.until = performance.now() + milliseconds;
    // It may be megabytes, and perhaps nobody asks for it again.
    setTimeout(forget, milliseconds).unref();
  }, forget);
  kept.delete(key);
  kept.set(key, entry);
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
  return value;
}
