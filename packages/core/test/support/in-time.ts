// Waits for what must come, and says in words when it does not: a test that only takes too long does not say what it lacked.
import { withTimeout } from "../../src/values/with-timeout.ts";

/** Milliseconds for what takes a few. Only what never comes takes them; mutation runs, which see much of that, have fewer. */
export const patience = Number(process.env.ANDANTE_TEST_PATIENCE ?? 10_000);

/** Everything that comes, to its end. */
export async function allInTime<T>(items: AsyncIterable<T>, what: string): Promise<T[]> {
  const list: T[] = [];
  const reading = async () => {
    for await (const item of items) list.push(item);
    return list;
  };
  return inTime(reading(), what);
}

export async function inTime<T>(promise: PromiseLike<T>, what: string): Promise<T> {
  const timed = await withTimeout(promise, patience);
  if (timed.timedOut) throw new Error(`${what} did not come within ${patience} ms`);
  return timed.value;
}
