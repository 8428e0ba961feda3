// What something costs all threads of this process: time on the clock says more about what else the machine does.

/** Milliseconds of processor time, the kernel's for this process included. */
export async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
