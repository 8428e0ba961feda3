// Shared by all benchmarks: running many at once, medians, memory, temporary folders.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Runs `count` tasks, `width` at a time; answers how many were done per second. */
export async function throughput(
  count: number,
  width: number,
  task: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const lane = async () => {
    while (next < count) await task(next++);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: width }, lane));
  return count / ((performance.now() - start) / 1000);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Resident memory in MB, after garbage is collected where the process was started with --expose-gc. */
export function residentMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 1024 / 1024;
}

export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
