// Whether the process waits for callers: as long as one of them holds it, and no longer.
import { expect, onTestFinished, test, vi } from "vitest";
import { KeepAlive } from "./keep-alive.ts";

/** A new one, and whether its timer keeps the process alive. */
function watched() {
  const made = vi.spyOn(globalThis, "setInterval");
  onTestFinished(() => {
    for (const { value } of made.mock.results) clearInterval(value);
    made.mockRestore();
  });
  const keepAlive = new KeepAlive();
  return { keepAlive, made, holds: () => made.mock.results.some(({ value }) => value.hasRef()) };
}

test("the process waits until the last holder has released it, with one timer for all", () => {
  const { keepAlive, made, holds } = watched();
  const seen = [holds()];
  for (const act of ["hold", "hold", "release", "release", "hold", "release"] as const) {
    keepAlive[act]();
    seen.push(holds());
  }
  expect(seen).toEqual([false, true, true, true, false, true, false]);
  expect(made).toHaveBeenCalledTimes(1);
  // A longer period would be one of a millisecond.
  expect(made.mock.calls[0]?.[1]).toBe(2 ** 31 - 1);
});

test("it waits for a promise until that is settled, and passes on how", async () => {
  const { keepAlive, holds } = watched();
  const value = keepAlive.during(Promise.resolve(5));
  expect(holds()).toBe(true);
  expect(await value).toBe(5);
  expect(holds()).toBe(false);
  const failure = keepAlive.during(Promise.reject(new Error("no")));
  expect(holds()).toBe(true);
  await expect(failure).rejects.toThrow("no");
  expect(holds()).toBe(false);
});
