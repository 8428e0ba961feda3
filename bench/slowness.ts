// Budgets in times and rates hold on a machine that is as fast as the one on which they were set. On a slower one, or while its
// neighbours are busy, they are wider by the time that a known piece of work takes, which a thread measures all the while.
import { createHmac } from "node:crypto";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { median } from "./measure.ts";

/** Microseconds that an HMAC-SHA256 of 20 kB took there. */
const reference = 47;
/** Milliseconds between two samples, and how many are kept: those of an hour. */
const pause = 100;
const kept = 36_000;

interface Samples {
  /** Microseconds, in turn. */
  readonly times: Float64Array;
  readonly count: Int32Array;
}

function startThread(): Samples {
  const samples = {
    times: new Float64Array(new SharedArrayBuffer(8 * kept)),
    count: new Int32Array(new SharedArrayBuffer(4)),
  };
  new Worker(new URL(import.meta.url), { workerData: samples }).unref();
  return samples;
}

/** A sample is short, so that it is seldom interrupted by the work that is measured. */
function sampleForever({ times, count }: Samples): void {
  const bytes = Buffer.alloc(20_000, "andante");
  const timed = () => {
    const begun = performance.now();
    createHmac("sha256", "key").update(bytes).digest();
    return (performance.now() - begun) * 1000;
  };
  setInterval(() => {
    times[Atomics.load(count, 0) % kept] = median(Array.from({ length: 9 }, timed));
    Atomics.add(count, 0, 1);
  }, pause);
}

const samples = isMainThread ? startThread() : undefined;
if (!isMainThread) sampleForever(workerData);

let [first, last] = [0, 0];

/** How many times longer it took in the median since the last budget, or in the last second; 1 for less. */
function slowness(): number {
  const count = samples === undefined ? 0 : Atomics.load(samples.count, 0);
  if (samples === undefined || count === 0) return 1;
  if (count - last >= 1000 / pause) first = last;
  last = count;
  const from = Math.min(first, count - 1);
  const times = Array.from({ length: count - from }, (_, index) => samples.times[(from + index) % kept] ?? 0);
  return Math.max(1, median(times) / reference);
}

/** The text of a budget and whether it is held. */
interface Limit {
  readonly budget: string;
  readonly held: boolean;
}

const factor = (slow: number) => (slow < 1.05 ? "" : ` (× ${slow.toFixed(1)}: the machine is slower)`);

/** A time of at most `limit`, both in the same unit. */
export function atMost(time: number, limit: number, unit: string): Limit {
  const slow = slowness();
  return { budget: `at most ${limit} ${unit}${factor(slow)}`, held: time <= limit * slow };
}

/** A rate of at least `limit` in a second. */
export function atLeast(rate: number, limit: number): Limit {
  const slow = slowness();
  return { budget: `at least ${limit}${factor(slow)}`, held: rate >= limit / slow };
}
