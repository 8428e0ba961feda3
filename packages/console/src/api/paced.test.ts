// The rate of a task that is requested continuously.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { paced } from "./paced.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the first is done at once, the last is never left out", () => {
  const run = vi.fn();
  const ask = paced(4000, run);
  ask();
  vi.advanceTimersByTime(30);
  expect(run).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1000);
  for (let count = 0; count < 10; count += 1) ask();
  expect(run).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(3000);
  expect(run).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(60_000);
  expect(run).toHaveBeenCalledTimes(2);
});

test("with `again` it is done once more after the last one, and no more", () => {
  const run = vi.fn();
  const ask = paced(4000, run, { again: true });
  ask();
  vi.advanceTimersByTime(30);
  expect(run).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(60_000);
  expect(run).toHaveBeenCalledTimes(2);
});

test("nothing is done once it is stopped", () => {
  const run = vi.fn();
  const ask = paced(1000, run);
  ask();
  ask.stop();
  vi.advanceTimersByTime(5000);
  expect(run).not.toHaveBeenCalled();
});
