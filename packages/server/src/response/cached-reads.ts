// A short-lived cache of reads: many pages request the same data, and a busy server changes continuously.

interface Kept {
  readonly value: Promise<unknown>;
  /** End of the cache time. While the read runs, all callers wait for the same promise. */
  until: number;
  /** The number of waiting callers; the read is aborted when the last of them disconnects. */
  waiting: number;
  readonly abandoned: AbortController;
}

/** Maximum cached keys: callers that see only their own data have separate keys. */
const most = 200;

export interface CachedRead<T> {
  /** Identifies the data that is read. */
  readonly key: string;
  /** Cache time in milliseconds. */
  readonly milliseconds: number;
  /** Aborted when the client of this request disconnects. */
  readonly signal: AbortSignal;
  /** The read; `signal` is aborted when all waiting clients have disconnected. */
  read(signal: AbortSignal): Promise<T>;
}

/** The cached reads of one app. */
export class CachedReads {
  readonly #kept = new Map<string, Kept>();

  /** The result of `read`, or its result for the same key a moment ago. A failure is not kept. */
  get<T>(asked: CachedRead<T>): Promise<T> {
    const known = this.#kept.get(asked.key);
    const entry = known !== undefined && known.until > performance.now() ? known : begin(this.#kept, asked);
    waitFor(entry, asked.signal);
    // The key identifies the data and the query, so the value has the type of the same call.
    return entry.value as Promise<T>;
  }
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
    // The value may be megabytes, and there may be no further request for it.
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
