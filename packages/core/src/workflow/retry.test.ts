// The delays of retries, and durations.
import { describe, expect, test } from "vitest";
import { parseDuration } from "../values/duration.ts";
import { checkRetry, delayAfter, type RetryOptions } from "./retry.ts";

const delays = (options: RetryOptions, random: number) => {
  const policy = checkRetry(options, "test");
  return [1, 2, 3, 4].map((attempt) => policy && delayAfter(policy, attempt, random));
};

describe("the delay after a failure", () => {
  test("doubles by default, up to the longest", () => {
    expect(delays({ attempts: 5, jitter: false }, 0)).toEqual([1000, 2000, 4000, 8000]);
    expect(delays({ attempts: 5, delay: "1m", maxDelay: "3m", jitter: false }, 0)).toEqual([
      60_000, 120_000, 180_000, 180_000,
    ]);
  });

  test("stays the same when it is fixed", () => {
    expect(delays({ attempts: 5, delay: 50, backoff: "fixed", jitter: false }, 0)).toEqual([50, 50, 50, 50]);
  });

  test("is shortened by up to half by chance", () => {
    expect(delays({ attempts: 5 }, 0)).toEqual([1000, 2000, 4000, 8000]);
    expect(delays({ attempts: 5 }, 1)).toEqual([500, 1000, 2000, 4000]);
  });

  test("stays a number after very many attempts", () => {
    const policy = checkRetry({ attempts: 1000, jitter: false }, "test");
    expect(policy && delayAfter(policy, 999, 0)).toBe(300_000);
  });
});

test.each([
  [0, 0],
  [1500, 1500],
  ["250ms", 250],
  ["10s", 10_000],
  ["1.5m", 90_000],
  ["2h", 7_200_000],
  ["30d", 2_592_000_000],
  [0.4, 0],
  [2.5, 3],
  ["0.0015s", 2],
  ["0.1m", 6000],
])("the duration %j is %d ms", (duration, milliseconds) => {
  expect(parseDuration(duration, "test")).toBe(milliseconds);
});

test.each([-1, Number.NaN, "", "10", "s", "-5s", "1h30m", "10 s", null, {}, 4e12])(
  "the duration %j is refused",
  (duration) => {
    expect(() => parseDuration(duration, "test, delay")).toThrow("test, delay: expected milliseconds");
  },
);
