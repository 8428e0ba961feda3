// The time that work takes of the processor, in milliseconds: other work on the machine does not count, as it would by a clock.

/** Of this thread, from its start. */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The mean of so many runs: the kernel counts by the tick, which is several milliseconds. */
export function meanTime(work: () => unknown, runs: number): number {
  const before = threadTime();
  for (let run = 0; run < runs; run += 1) work();
  return (threadTime() - before) / runs;
}

/** The longest turn of the event loop while the work is under way. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, last] = [0, threadTime()];
  const look = () => {
    const now = threadTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const looking = setInterval(look, 5);
  try {
    await work();
  } finally {
    clearInterval(looking);
  }
  look();
  return longest;
}
