// The heart's timer: one beat at a time, a failure is logged and tried again, and a lease that has passed is noticed.

import { expect, onTestFinished, test, vi } from "vitest";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import { StoreUnavailableError } from "../../errors/index.ts";
import { Metrics } from "../../observe/metrics.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store } from "../../store/store.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { systemClock } from "../../values/clock.ts";
import { Heartbeat } from "./heartbeat.ts";
import { StorageWatch } from "./storage-watch.ts";

function heartOf(operations: Partial<Store>) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const logger = new RecordingLogger();
  const none = () => 0;
  const metrics = new Metrics({ running: none, suspended: async () => 0, streams: none, dropped: none });
  const store = wrapStore(memoryStore(), operations);
  const storage = new StorageWatch(store, logger, metrics, systemClock);
  const leaseEnded = vi.fn();
  const heart = new Heartbeat(
    { store, storage, logger, claims: { owner: "me", announced: () => undefined }, describe: () => ({}) },
    { lease: 1000, period: 100 },
    leaseEnded,
  );
  onTestFinished(() => {
    heart.stop();
    vi.useRealTimers();
  });
  return { heart, leaseEnded, lines: () => logger.of("warn", "error") };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));
const clusterChannel = {
  lease: 1000,
  clockOffset: 0,
  listen: () => () => undefined,
  askToStop: () => undefined,
};

test("a beat that takes long is waited for, not repeated", async () => {
  const slow = Promise.withResolvers<void>();
  const heartbeat = vi.fn(() => slow.promise);
  const { heart } = heartOf({ heartbeat });
  heart.start();
  vi.advanceTimersByTime(500);
  expect(heartbeat.mock.calls).toEqual([[{ owner: "me", lease: 1000, about: "{}" }]]);
  slow.resolve();
  await turn();
  vi.advanceTimersByTime(100);
  expect(heartbeat).toHaveBeenCalledTimes(2);
  heart.stop();
  vi.advanceTimersByTime(500);
  expect(heartbeat).toHaveBeenCalledTimes(2);
});

test("one that fails is logged and tried again; trouble of the storage has its own line", async () => {
  const failures = [new Error("no reply"), new StoreUnavailableError({ cause: new Error("disk full") })];
  const heartbeat = vi.fn(async () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  });
  const { heart, lines } = heartOf({ heartbeat });
  heart.start();
  vi.advanceTimersByTime(100);
  await turn();
  expect(lines()).toMatchObject([{ msg: "the heartbeat of this process failed; trying again" }]);
  vi.advanceTimersByTime(100);
  await turn();
  expect(lines().filter(({ msg }) => String(msg).includes("heartbeat"))).toHaveLength(1);
  vi.advanceTimersByTime(100);
  expect(heartbeat).toHaveBeenCalledTimes(3);
});

test("a lease that has passed is noticed once, and only where others could take over", async () => {
  const never = new Promise<void>(() => undefined);
  const shared = heartOf({ heartbeat: () => never, clusterChannel });
  shared.heart.start();
  vi.advanceTimersByTime(1000);
  expect(shared.leaseEnded).not.toHaveBeenCalled();
  vi.advanceTimersByTime(900);
  expect(shared.leaseEnded).toHaveBeenCalledTimes(1);
  const alone = heartOf({ heartbeat: () => never });
  alone.heart.start();
  vi.advanceTimersByTime(5000);
  expect(alone.leaseEnded).not.toHaveBeenCalled();
});

/** A heart on a clock that the test sets, and a store that the test cuts off. */
function blockedHeart() {
  const state = { isReached: true, passed: 0 };
  const heartbeat = async () => {
    if (!state.isReached) throw new StoreUnavailableError({ cause: new Error("no reply") });
  };
  const { heart, leaseEnded, lines } = heartOf({ heartbeat, clusterChannel });
  // While a body computes the time passes, and no timer fires.
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + state.passed);
  onTestFinished(() => clock.mockRestore());
  const tick = async () => {
    vi.advanceTimersByTime(100);
    await turn();
  };
  const blocked = () => lines().filter(({ msg }) => String(msg).includes("blocked the event loop"));
  return { heart, leaseEnded, state, tick, blocked };
}

test("a lease that passed because the event loop was blocked is logged with the time, one that the store cost is not", async () => {
  const { heart, leaseEnded, state, tick, blocked } = blockedHeart();
  heart.start();
  await tick();
  state.passed += 700;
  await tick();
  expect(leaseEnded).not.toHaveBeenCalled();
  state.passed += 1500;
  await tick();
  expect(leaseEnded).toHaveBeenCalledTimes(1);
  expect(blocked()).toMatchObject([{ blockedFor: 1500, lease: 1000 }]);
  state.isReached = false;
  for (let ticks = 0; ticks < 12; ticks++) await tick();
  expect(leaseEnded).toHaveBeenCalledTimes(2);
  expect(blocked()).toHaveLength(1);
});

test.each([
  [800, 0],
  [801, 1],
])("a block of %d ms after a store that was not reached is logged %d times", async (block, times) => {
  const { heart, leaseEnded, state, tick, blocked } = blockedHeart();
  heart.start();
  await tick();
  state.isReached = false;
  for (let ticks = 0; ticks < 3; ticks++) await tick();
  state.passed += block;
  await tick();
  expect(leaseEnded).toHaveBeenCalledTimes(1);
  expect(blocked()).toHaveLength(times);
});

test("the time before the heart is started is no block", async () => {
  const { heart, leaseEnded, state, tick, blocked } = blockedHeart();
  state.passed += 5000;
  heart.start();
  await tick();
  expect(leaseEnded).toHaveBeenCalledTimes(1);
  expect(blocked()).toEqual([]);
});
