import { expect, test } from "vitest";
import { parseDuration } from "./duration.ts";

test.each<[number | string, number]>([
  [0, 0],
  [1500, 1500],
  ["0s", 0],
  ["250ms", 250],
  ["10s", 10_000],
  ["1.5s", 1500],
  ["5m", 300_000],
  ["2h", 7_200_000],
  ["30d", 2_592_000_000],
])("%j is %d milliseconds", (duration, milliseconds) => {
  expect(parseDuration(duration)).toBe(milliseconds);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, "", "10", "10 s", "s", "-1s", "1w", "1e3s", null, {}])(
  "%j is no duration",
  (duration) => {
    expect(() => parseDuration(duration, "andSleep")).toThrow(
      /^andSleep: expected milliseconds or a text such as/,
    );
  },
);
