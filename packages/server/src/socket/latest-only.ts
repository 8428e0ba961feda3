// Work on items that come faster than they can be processed: one at a time, and of those that wait only the latest.

/** Returns a function that hands its argument to `work`, unless another comes before its turn. `work` must not reject. */
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
