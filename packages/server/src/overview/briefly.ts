// Keeps what was read for a moment: many pages ask for the same, and a busy server changes all the time.
import type { Andante } from "@andante/core";

interface Kept {
  readonly value: Promise<unknown>;
  readonly until: number;
}

/** Keys that are kept for one Andante at once: callers that see only their own have their own. */
const most = 200;

const keptOf = new WeakMap<Andante, Map<string, Kept>>();

/** What `read` returns, or what it returned for the same key within `milliseconds`. A failure is not kept. */
export function briefly<T>(
  andante: Andante,
  key: string,
  milliseconds: number,
  read: () => Promise<T>,
): Promise<T> {
  const all = keptOf.get(andante) ?? new Map<string, Kept>();
  keptOf.set(andante, all);
  const known = all.get(key);
  // The key names what is read and how, so the value is of the type that the same caller gave it.
  if (known !== undefined && known.until > performance.now()) return known.value as Promise<T>;
  const value = read();
  all.delete(key);
  all.set(key, { value, until: performance.now() + milliseconds });
  value.catch(() => all.delete(key));
  const [oldest] = all.keys();
  if (all.size > most && oldest !== undefined) all.delete(oldest);
  return value;
}
