// Keeps what was read for a moment: many pages ask for the same, and a busy server changes all the time.
import type { Andante } from "@andante/core";

interface Kept {
  readonly value: Promise<unknown>;
  /** While it is being read, everyone who asks for it waits for the same. */
  until: number;
  /** How many wait for it; when the last of them is gone it is not read to its end. */
  waiting: number;
  readonly abandoned: AbortController;
}

/** Keys that are kept for one Andante at once: callers that see only their own have their own. */
const most = 200;

const keptFor = new WeakMap<Andante, Map<string, Kept>>();

export interface CachedRead<T> {
  /** Identifies the data that is read. */
  readonly key: string;
  /** How long it is kept, in milliseconds. */
  readonly milliseconds: number;
  /** Aborted when the client of this request is gone. */
  readonly signal: AbortSignal;
  /** Its signal is aborted when all clients that wait for it are gone. */
  read(signal: AbortSignal): Promise<T>;
}

/** The result of `read`, or its result for the same key a moment ago. A failure is not kept. */
export function cachedRead<T>(andante: Andante, asked: CachedRead<T>): Promise<T> {
  const kept = keptFor.get(andante) ?? new Map<string, Kept>();
  keptFor.set(andante, kept);
  const known = kept.get(asked.key);
  const entry = known !== undefined && known.until > performance.now() ? known : begin(kept, asked);
  waitFor(entry, asked.signal);
  // The key names what is read and how, so the value is of the type that the same caller gave it.
  return entry.value as Promise<T>;
}

function begin<T>(kept: Map<string, Kept>, { key, milliseconds, read }: CachedRead<T>): Kept {
  const abandoned = new AbortController();
  const value = read(abandoned.signal);
  const entry: Kept = { value, until: Number.POSITIVE_INFINITY, waiting: 0, abandoned };
  const forget = () => {
    if (kept.get(key) === entry) kept.delete(key);
  };
  abandoned.signal.addEventListener("abort", forget);
  value.then(() => {
    entry.until = performance.now() + milliseconds;
    // It may be megabytes, and perhaps nobody asks for it again.
    setTimeout(forget, milliseconds).unref();
  }, forget);
  kept.delete(key);
  kept.set(key, entry);
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
  return entry;
}

function waitFor(entry: Kept, signal: AbortSignal): void {
  entry.waiting += 1;
  const leave = () => {
    entry.waiting -= 1;
    if (entry.waiting === 0) entry.abandoned.abort();
  };
  signal.addEventListener("abort", leave);
  const stay = () => signal.removeEventListener("abort", leave);
  entry.value.then(stay, stay);
}
