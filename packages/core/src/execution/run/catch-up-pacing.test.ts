// Timers that were overdue together keep their distances; everything else happens at its own time.
import { expect, test } from "vitest";
import { CatchUpPacing } from "./catch-up-pacing.ts";

test("without anything late every time is its own", () => {
  const pacing = new CatchUpPacing();
  expect([pacing.isCatchingUp, pacing.earliest(50)]).toEqual([false, 50]);
  pacing.record(100, 100);
  expect([pacing.isCatchingUp, pacing.earliest(50), pacing.earliest(100), pacing.earliest(150)]).toEqual([
    false,
    50,
    100,
    150,
  ]);
});

test("timers overdue at the same time keep their distance", () => {
  const pacing = new CatchUpPacing();
  pacing.record(100, 1000);
  expect(pacing.isCatchingUp).toBe(true);
  expect(pacing.earliest(300), "200 after the first").toBe(1200);
  expect(pacing.earliest(1000), "the last that was overdue").toBe(1900);
  expect(pacing.earliest(1001), "not due yet when the first happened").toBe(1001);
  expect(pacing.earliest(100), "not after it").toBe(100);
  expect(pacing.earliest(90)).toBe(90);
});
