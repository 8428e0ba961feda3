// One alarm on a clock: it rings once, at the time that was set last.
import { expect, test } from "vitest";
import { TestClock } from "../../test-kit/test-clock.ts";
import type { Clock } from "../../values/clock.ts";
import { Alarm } from "./alarm.ts";

test("it rings once at its time, is moved, and rings no more when it was cancelled", () => {
  const clock = new TestClock({ skipSleeps: false });
  const begin = clock.now();
  let rings = 0;
  const set: (number | undefined)[] = [];
  const now = () => clock.now();
  const noted: Clock = {
    now,
    at: (time, kind, callback) => {
      set.push(time - begin);
      return clock.at(time, kind, callback);
    },
  };
  const alarm = new Alarm(noted, () => rings++);
  alarm.set(begin + 10);
  alarm.set(begin + 10);
  clock.advance(9);
  expect(rings).toBe(0);
  clock.advance(1);
  expect(rings).toBe(1);
  clock.advance(100);
  expect(rings).toBe(1);
  // The same time may be set again once it has rung.
  alarm.set(begin + 10);
  clock.advance(0);
  expect(rings).toBe(2);
  alarm.set(begin + 200);
  alarm.set(begin + 300);
  clock.advance(150);
  expect(rings).toBe(2);
  alarm.set(undefined);
  clock.advance(1000);
  expect(rings).toBe(2);
  alarm.set(begin + 2000);
  alarm.cancel();
  alarm.cancel();
  clock.advance(1000);
  expect(rings).toBe(2);
  // The clock is asked for each time once, and for no other.
  expect(set).toEqual([10, 10, 200, 300, 2000]);
});
