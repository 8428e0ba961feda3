// When storage trouble begins and ends where nothing is written for long, and its log lines.

import { expect, onTestFinished, test, vi } from "vitest";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import { StoreUnavailableError } from "../../errors/index.ts";
import { Metrics } from "../../observe/metrics.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store, StoreHealth } from "../../store/store.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { type Clock, systemClock } from "../../values/clock.ts";
import { StorageWatch } from "./storage-watch.ts";

const full = () => new StoreUnavailableError({ cause: new Error("the disk is full") });

function watchForTest(clock: Clock = systemClock) {
  const toFake = ["Date", "setInterval", "clearInterval", "setTimeout", "clearTimeout"] as const;
  vi.useFakeTimers({ toFake: [...toFake], now: 0 });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const logger = new RecordingLogger();
  const none = () => 0;
  const metrics = new Metrics({ running: none, suspended: async () => 0, streams: none, dropped: none });
  const health = vi.fn<Store["health"]>(async () => well);
  const store = wrapStore(memoryStore(), { location: "x.db", health });
  const watch = new StorageWatch(store, logger, metrics, clock);
  onTestFinished(() => watch.stop());
  return { watch, health, metrics, lines: () => logger.of("warn", "error") };
}

const well: StoreHealth = { problem: null, bytes: null, restarts: { count: 0, reason: "" } };
const never = () => new Promise<never>(() => undefined);

test("goes by the clock that it is given", () => {
  const clock = new TestClock();
  const { watch, lines } = watchForTest(clock);
  watch.failed(full());
  vi.setSystemTime(3_600_000);
  watch.alive();
  expect(lines()).toHaveLength(1);
  clock.advance("40s");
  watch.alive();
  expect(lines()).toMatchObject([{ level: "error" }, { ...ends, seconds: 40 }]);
});

const ends = { store: "x.db", level: "warn", msg: "the storage works again: runs continue" };

test("a write ends it, and the line has its duration and the number of failures", () => {
  const { watch, lines } = watchForTest();
  expect(watch.failed(full())).toBe(true);
  expect(watch.failed(full())).toBe(true);
  expect(watch.failed(new Error("something else"))).toBe(false);
  expect(lines()).toMatchObject([{ level: "error", store: "x.db" }]);
  vi.setSystemTime(2550);
  watch.wrote();
  watch.wrote();
  expect(lines()).toMatchObject([{ level: "error" }, { ...ends, seconds: 2.6, failures: 2 }]);
});

test("a heartbeat ends it too, but only after half a minute without a failure", () => {
  const { watch, lines } = watchForTest();
  watch.alive();
  watch.failed(full());
  vi.setSystemTime(29_999);
  watch.alive();
  expect(lines()).toHaveLength(1);
  watch.failed(full());
  vi.setSystemTime(59_998);
  watch.alive();
  expect(lines()).toHaveLength(1);
  vi.setSystemTime(59_999);
  watch.alive();
  expect(lines()).toMatchObject([{ level: "error" }, { ...ends, seconds: 60, failures: 2 }]);
});

test("commits without a reply are trouble when a probe has no reply either", async () => {
  const { watch, lines } = watchForTest();
  const probe = vi.fn(() => new Promise<void>(() => undefined));
  watch.start(probe);
  watch.sent();
  await vi.advanceTimersByTimeAsync(1999);
  expect(probe).not.toHaveBeenCalled();
  // From the second look on, and then for as long as a store may think.
  await vi.advanceTimersByTimeAsync(2000);
  expect(probe).toHaveBeenCalledOnce();
  expect(lines()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(lines()).toMatchObject([{ level: "error", err: { message: "the store does not reply" } }]);
  watch.replied();
  watch.wrote();
  await vi.advanceTimersByTimeAsync(0);
  expect(lines().slice(1)).toMatchObject([ends]);
});

test("commits that are replied to while the store is probed are not", async () => {
  const { watch, lines } = watchForTest();
  watch.start(() => new Promise<void>(() => undefined));
  watch.sent();
  await vi.advanceTimersByTimeAsync(2000);
  watch.replied();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines()).toEqual([]);
});

test("a caller waits for a slow store no longer than a quarter of a second, and gets its last health", async () => {
  const { watch, health, lines } = watchForTest();
  watch.start(async () => undefined);
  // The first one waits: there is no last one.
  const first = Promise.withResolvers<StoreHealth>();
  health.mockReturnValueOnce(first.promise);
  const settled = vi.fn();
  const begun = watch.health().then(settled);
  await vi.advanceTimersByTimeAsync(1000);
  expect(settled).not.toHaveBeenCalled();
  first.resolve({ ...well, bytes: 5 });
  await begun;
  expect(settled).toHaveBeenCalledWith({ ...well, bytes: 5 });

  const slow = Promise.withResolvers<StoreHealth>();
  health.mockReturnValueOnce(slow.promise);
  const both = Promise.all([watch.health(), watch.health()]);
  await vi.advanceTimersByTimeAsync(250);
  expect(await both).toMatchObject([{ bytes: 5 }, { bytes: 5 }]);
  // One question for both, and its late result counts.
  expect(health).toHaveBeenCalledTimes(2);
  slow.resolve({ ...well, problem: "the disk is full" });
  await slow.promise;
  expect(lines()).toMatchObject([{ msg: "the storage is in trouble: the disk is full" }]);
  health.mockImplementation(never);
  const last = watch.health();
  await vi.advanceTimersByTimeAsync(250);
  expect(await last).toMatchObject({ problem: "the disk is full" });
});

test("a restart of a database thread is logged once, with the reason", async () => {
  const { watch, health, lines } = watchForTest();
  watch.start(async () => undefined);
  const restarts = (count: number) => ({ ...well, restarts: { count, reason: `reason ${count}` } });
  for (const count of [1, 1, 2]) {
    health.mockResolvedValueOnce(restarts(count));
    await watch.health();
  }
  const line = {
    ...{ level: "error", store: "x.db" },
    msg: "a database thread died and was started again",
  };
  expect(lines()).toMatchObject([
    { ...line, reason: "reason 1" },
    { ...line, reason: "reason 2" },
  ]);
});

test("the first line of the trouble has the failure; the metrics count failures and show the trouble", async () => {
  const { watch, lines, metrics } = watchForTest();
  const shown = async () =>
    (await metrics.text())
      .split("\n")
      .filter((line) => line.includes("storage") && !line.startsWith("# TYPE"));
  const help =
    "# HELP andante_storage_in_trouble 1 while the storage is in trouble: runs wait, starts are refused, or what is written may be lost";
  expect(await shown()).toEqual(expect.arrayContaining([help, "andante_storage_in_trouble 0"]));
  watch.failed(full());
  watch.failed(full());
  watch.failed(new Error("another"));
  expect(await shown()).toEqual(
    expect.arrayContaining(["andante_storage_in_trouble 1", expect.stringMatching(/failures_total 2$/)]),
  );
  const { message } = full();
  expect(lines()).toEqual([
    {
      ...{ level: "error", store: "x.db", err: expect.objectContaining({ message }) },
      msg: "the storage is in trouble: runs wait and starts are refused until it is over",
    },
  ]);
});

const problem = { ...well, problem: "the file is full" };

test("the health is asked for at every fifth check, by one timer, until the end", async () => {
  const { watch, health } = watchForTest();
  watch.start(async () => undefined);
  watch.start(async () => undefined);
  await vi.advanceTimersByTimeAsync(4999);
  expect(health).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(health).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(5000);
  expect(health).toHaveBeenCalledTimes(2);
  watch.stop();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(health).toHaveBeenCalledTimes(2);
});

test("before the start and after the end a health is passed on, and neither kept nor reported", async () => {
  const { watch, health, lines } = watchForTest();
  health.mockResolvedValue(problem);
  expect(await watch.health()).toEqual(problem);
  watch.start(async () => undefined);
  watch.stop();
  expect(await watch.health()).toEqual(problem);
  watch.failed(full());
  expect([health.mock.calls.length, lines().length]).toEqual([2, 1]);
  // None was kept: a caller waits for the next.
  health.mockImplementation(never);
  const settled = vi.fn();
  void watch.health().then(settled);
  await vi.advanceTimersByTimeAsync(1000);
  expect(settled).not.toHaveBeenCalled();
});

test("a problem that the store reports is trouble until it reports none", async () => {
  const { watch, health, lines } = watchForTest();
  watch.start(async () => undefined);
  health.mockResolvedValue(problem);
  await watch.health();
  await watch.health();
  expect(lines()).toEqual([
    { level: "error", store: "x.db", msg: "the storage is in trouble: the file is full" },
  ]);
  health.mockResolvedValue(well);
  vi.setSystemTime(1000);
  await watch.health();
  await watch.health();
  expect(lines().slice(1)).toEqual([{ ...ends, seconds: 1, failures: 0 }]);
});

test("the first failure leads to a question; while a failure is not over, a store without a problem ends nothing", async () => {
  const { watch, health, lines } = watchForTest();
  watch.start(async () => undefined);
  watch.failed(full());
  await vi.advanceTimersByTimeAsync(0);
  watch.failed(full());
  await vi.advanceTimersByTimeAsync(0);
  expect([health.mock.calls.length, lines().length]).toEqual([1, 1]);
  watch.wrote();
  // Its last report had no problem, and no question is under way.
  expect([health.mock.calls.length, lines().slice(1)]).toEqual([1, [{ ...ends, seconds: 0, failures: 2 }]]);
});

test.each([
  ["no problem", well, 2],
  ["its problem", problem, 1],
])(
  "a write while the store has a problem ends the trouble when it then reports %s",
  async (_, then, expected) => {
    const { watch, health, lines } = watchForTest();
    watch.start(async () => undefined);
    health.mockResolvedValue(problem);
    await watch.health();
    watch.failed(full());
    await vi.advanceTimersByTimeAsync(0);
    const asked = health.mock.calls.length;
    health.mockResolvedValue(then);
    watch.wrote();
    expect(lines()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(0);
    expect([health.mock.calls.length, lines().length]).toEqual([asked + 1, expected]);
  },
);

test("a write while a question is under way waits for the reply", async () => {
  const { watch, health, lines } = watchForTest();
  watch.start(async () => undefined);
  const reply = Promise.withResolvers<StoreHealth>();
  health.mockReturnValueOnce(reply.promise);
  watch.failed(full());
  watch.wrote();
  expect(lines()).toHaveLength(1);
  reply.resolve(well);
  await vi.advanceTimersByTimeAsync(0);
  expect([health.mock.calls.length, lines().length]).toEqual([1, 2]);
});

test("commits that are replied to in time lead to no probe", async () => {
  const { watch } = watchForTest();
  const probe = vi.fn(async () => undefined);
  watch.start(probe);
  watch.sent();
  watch.sent();
  await vi.advanceTimersByTimeAsync(1000);
  watch.replied();
  // One had a reply since.
  await vi.advanceTimersByTimeAsync(1000);
  expect(probe).not.toHaveBeenCalled();
  watch.replied();
  await vi.advanceTimersByTimeAsync(1000);
  // The first check of a commit that was just sent.
  watch.sent();
  await vi.advanceTimersByTimeAsync(1000);
  expect(probe).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1000);
  expect(probe).toHaveBeenCalledOnce();
});

test("one probe at a time, and none during trouble; the next comes when it has ended", async () => {
  const { watch, lines } = watchForTest();
  const first = Promise.withResolvers<void>();
  const probe = vi.fn(() => first.promise);
  watch.start(probe);
  watch.sent();
  await vi.advanceTimersByTimeAsync(3500);
  expect(probe).toHaveBeenCalledOnce();
  first.resolve();
  await vi.advanceTimersByTimeAsync(500);
  // A store that replies to the probe is not in trouble.
  expect([probe.mock.calls.length, lines()]).toEqual([2, []]);
  probe.mockRejectedValueOnce(full());
  await vi.advanceTimersByTimeAsync(1000);
  expect(lines()).toMatchObject([{ level: "error" }]);
  const { length } = probe.mock.calls;
  await vi.advanceTimersByTimeAsync(5000);
  expect(probe).toHaveBeenCalledTimes(length);
});

test("a probe that fails for another reason is no trouble", async () => {
  const { watch, lines } = watchForTest();
  const probe = vi.fn(() => Promise.reject(new Error("another")));
  watch.start(probe);
  watch.sent();
  await vi.advanceTimersByTimeAsync(3000);
  expect([probe.mock.calls.length, lines()]).toEqual([2, []]);
});
