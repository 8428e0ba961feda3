import { expect, test } from "vitest";
import { bucketOf, noDuration, percentileOf } from "./duration-buckets.ts";

const counted = (durations: readonly number[]) => {
  const counts = new Map<number, number>();
  for (const each of durations) counts.set(bucketOf(each), (counts.get(bucketOf(each)) ?? 0) + 1);
  return counts;
};

test("longer durations have higher ranges, and every duration has one", () => {
  const durations = [0, 1, 2, 10, 1000, 60_000, 86_400_000];
  const buckets = durations.map(bucketOf);
  expect(buckets).toEqual([...new Set(buckets)].sort((one, other) => one - other));
  expect(bucketOf(Number.MAX_SAFE_INTEGER)).toBe(bucketOf(2 ** 40));
  expect([bucketOf(-5), bucketOf(Number.NaN), bucketOf(0.4)]).toEqual([0, 0, 0]);
});

test("a percentile is at most a fifth off, for any durations", () => {
  const spread = Array.from({ length: 2000 }, (_, index) => 3 + ((index * 7919) % 5000));
  for (const durations of [spread, spread.map((each) => each * each), [180], Array(50).fill(42)]) {
    const sorted = [...durations].sort((one, other) => one - other);
    for (const share of [0.5, 0.95, 0.99]) {
      const exact = sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
      const read = percentileOf(counted(durations), share) ?? 0;
      expect(Math.abs(read / exact - 1)).toBeLessThan(0.2);
    }
  }
});

test("nothing that is known has no percentile", () => {
  expect(percentileOf(new Map(), 0.5)).toBeNull();
  expect(percentileOf(new Map([[noDuration, 7]]), 0.5)).toBeNull();
});
