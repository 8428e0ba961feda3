// The processor time of all threads of this process: wall-clock time depends more on the other load of the machine.

/** Milliseconds of processor time, the kernel's for this process included. */
export async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
