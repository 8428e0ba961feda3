// The processor time of a thread, for tests of work with a time limit: that of the machine depends on other processes.
import { onTestFinished, vi } from "vitest";

/** Each look finds that this thread has worked so many milliseconds more; others work without end meanwhile. */
export function threadWorks(milliseconds: number): void {
  let [own, all] = [0, 0];
  const thread = vi.spyOn(process, "threadCpuUsage").mockImplementation(() => {
    own += milliseconds * 1000;
    return { user: own / 2, system: own / 2 };
  });
  const others = vi.spyOn(process, "cpuUsage").mockImplementation(() => {
    all += 1e9;
    return { user: all, system: 0 };
  });
  onTestFinished(() => {
    thread.mockRestore();
    others.mockRestore();
  });
}
