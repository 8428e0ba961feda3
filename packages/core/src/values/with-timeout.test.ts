// Waiting with a limit: the result in time, the timeout otherwise, and no timer left behind.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withTimeout } from "./with-timeout.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("work that settles in time gives its value and leaves no timer", async () => {
  expect(await withTimeout(Promise.resolve("done"), 1000)).toEqual({ timedOut: false, value: "done" });
  expect(vi.getTimerCount()).toBe(0);
});

test("work that takes longer is no longer waited for", async () => {
  const work = Promise.withResolvers<string>();
  const waiting = withTimeout(work.promise, 1000);
  await vi.advanceTimersByTimeAsync(999);
  const settled = vi.fn();
  void waiting.then(settled);
  await Promise.resolve();
  expect(settled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await waiting).toEqual({ timedOut: true });
});

test("a rejection in time is passed on and leaves no timer; a later one is swallowed", async () => {
  await expect(withTimeout(Promise.reject(new Error("broken")), 1000)).rejects.toThrow("broken");
  expect(vi.getTimerCount()).toBe(0);
  const work = Promise.withResolvers<string>();
  const waiting = withTimeout(work.promise, 1000);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await waiting).toEqual({ timedOut: true });
  // Vitest fails the run when a rejection is not handled.
  work.reject(new Error("too late"));
  await vi.advanceTimersByTimeAsync(1);
});
