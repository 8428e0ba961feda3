import { expect, test } from "vitest";
import { isoTime } from "./iso-time.ts";

const day = 86_400_000;
const times = [0, 1, 999, 1000, 1001, Date.now(), 253_402_300_799_999, 253_402_300_800_000, 8.64e15];

test.each([
  ...times,
  ...times.map((time) => -time),
  1.5,
  -0.5,
  -1.5,
  1_700_000_000_123.9,
  -1_700_000_000_123.9,
  365 * day,
  999,
  0,
])("%d is written as Date writes it", (time) => {
  expect(isoTime(time)).toBe(new Date(time).toISOString());
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1000])("%d is no time", (time) => {
  isoTime(0);
  expect(() => isoTime(time)).toThrow(RangeError);
  expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
});
