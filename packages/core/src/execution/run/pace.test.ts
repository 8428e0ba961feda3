// Timers that were overdue together keep their distances; everything else happens at its own time.
import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

test("without anything late every time is its own", () => {
  const pace = new Pace();
  expect([pace.isBehind, pace.earliest(50)]).toEqual([false, 50]);
  pace.happened(100, 100);
  expect([pace.isBehind, pace.earliest(50), pace.earliest(100), pace.earliest(150)]).toEqual([
    false,
    50,
    100,
    150,
  ]);
});

test("timers overdue at the same time keep their distance", () => {
  const pace = new Pace();
  pace.happened(100, 1000);
  expect(pace.isBehind).toBe(true);
  expect(pace.earliest(300), "200 after the first").toBe(1200);
  expect(pace.earliest(1000), "the last that was overdue").toBe(1900);
  expect(pace.earliest(1001), "not due yet when the first happened").toBe(1001);
  expect(pace.earliest(100), "not after it").toBe(100);
  expect(pace.earliest(90)).toBe(90);
});
