// Waits for an event and fails with its name when it does not come: a test timeout alone does not name it.
import { withTimeout } from "../../src/values/with-timeout.ts";

/** Milliseconds for an event that takes a few. Mutation runs, in which many events never come, have fewer. */
export const patience = Number(process.env.ANDANTE_TEST_PATIENCE ?? 30_000);

/** Everything that comes, to its end. */
export async function allInTime<T>(items: AsyncIterable<T>, what: string): Promise<T[]> {
  const list: T[] = [];
  const reading = async () => {
    for await (const item of items) list.push(item);
    return list;
  };
  return inTime(reading(), what);
}

/** Resolves when the signal is aborted. */
export function abortOf(signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return boundedWait(aborted, "the abort");
}

/** The same as `inTime`, for a promise that a test may never wait for. */
export function boundedWait<T>(promise: PromiseLike<T>, what: string): Promise<T> {
  const bounded = inTime(promise, what);
  bounded.catch(() => undefined);
  return bounded;
}

export async function inTime<T>(promise: PromiseLike<T>, what: string, limit = patience): Promise<T> {
  const timed = await withTimeout(promise, limit);
  if (timed.timedOut) throw new Error(`${what} did not come within ${limit} ms`);
  return timed.value;
}
