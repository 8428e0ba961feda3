// Budgets in times and rates hold on a machine that is as fast as the one on which they were set. On a slower one, or while its
// neighbours are busy, they are wider by the time that a known piece of work takes, which is measured beside each figure.
import { createHmac } from "node:crypto";
import { median } from "./measure.ts";

/** Microseconds that an HMAC-SHA256 of 20 kB took there. */
const reference = 47;
const bytes = Buffer.alloc(20_000, "andante");

/** How many times longer it takes now; 1 for less. */
function slowness(): number {
  const rounds = Array.from({ length: 9 }, () => {
    const begun = performance.now();
    for (let index = 0; index < 200; index++) createHmac("sha256", "key").update(bytes).digest();
    return ((performance.now() - begun) / 200) * 1000;
  });
  return Math.max(1, median(rounds) / reference);
}

/** The text of a budget and whether it is held. */
export interface Limit {
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
