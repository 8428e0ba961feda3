// Processes items that arrive faster than they can be processed: one at a time, and of the waiting ones only the
// latest.

/** Returns a function that passes its argument to `work`, unless a later one replaces it. `work` must not reject. */
export function latestOnly<T extends object>(work: (given: T) => Promise<void>): (given: T) => void {
  let waiting: T | undefined;
  let working = false;
  const run = async () => {
    working = true;
    while (waiting !== undefined) {
      const given = waiting;
      waiting = undefined;
      await work(given);
    }
    working = false;
  };
  return (given) => {
    waiting = given;
    if (!working) void run();
  };
}
