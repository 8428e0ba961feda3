// Closing ends also when the store does not respond: what was not done is for the next process.
import { withTimeout } from "../values/with-timeout.ts";

/** Milliseconds beyond the grace period, and for each thing that is begun after it. */
const extra = 1000;

/** Returns a function that waits for work until the grace period is over, and a second longer. */
export function patience(grace: number): (work: Promise<unknown>) => Promise<void> {
  const end = performance.now() + grace + extra;
  return async (work) => {
    await withTimeout(work, Math.max(extra, end - performance.now()));
  };
}
