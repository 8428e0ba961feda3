// The clock that processes share follows the store's, also when the machine's own is changed.
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { sharedClock, systemClock } from "./clock.ts";

afterEach(() => void vi.restoreAllMocks());

const hour = 3_600_000;

test.each([hour, -hour])("a machine's clock that is set by %i ms changes nothing", async (jump) => {
  const clock = sharedClock(() => 0);
  const before = clock.now();
  const real = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => real() + jump);
  expect(Math.abs(clock.now() - before)).toBeLessThan(60_000);
  const rings = Promise.withResolvers<string>();
  clock.at(clock.now() + 5, "sleep", () => rings.resolve("in time"));
  const cancel = clock.at(clock.now() + hour / 2, "limit", () => rings.resolve("far too early"));
  expect(await rings.promise).toBe("in time");
  cancel();
  vi.restoreAllMocks();
  expect(Math.abs(clock.now() - before)).toBeLessThan(60_000);
});

test("it goes by the store's clock, and corrections do not make it run backwards", () => {
  let offset = hour;
  const clock = sharedClock(() => offset);
  const first = clock.now();
  expect(Math.abs(first - Date.now() - hour)).toBeLessThan(60_000);
  offset -= 50;
  expect(clock.now()).toBeGreaterThanOrEqual(first);
});

test("it follows a store that has failed over to a clock far behind, and does not stop", async () => {
  let offset = hour;
  const clock = sharedClock(() => offset);
  const first = clock.now();
  offset -= 5000;
  const now = clock.now();
  expect(now).toBeLessThan(first - 4000);
  const rings = Promise.withResolvers<void>();
  clock.at(now + 20, "sleep", rings.resolve);
  await rings.promise;
  expect(clock.now()).toBeGreaterThanOrEqual(now + 15);
});

test("a clock that is set ahead ends a sleep within a minute, and no limit", () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: 0 });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const ended: string[] = [];
  for (const kind of ["sleep", "limit"] as const) systemClock.at(2 * hour, kind, () => ended.push(kind));
  vi.advanceTimersByTime(hour);
  expect(ended).toEqual([]);
  vi.setSystemTime(2 * hour + 1);
  vi.advanceTimersByTime(60_001);
  expect(ended).toEqual(["sleep"]);
  vi.advanceTimersByTime(hour);
  expect(ended).toEqual(["sleep", "limit"]);
});
