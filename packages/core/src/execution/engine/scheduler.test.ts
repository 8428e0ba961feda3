// The scheduler's rounds: what takes long in one execution does not hold up the others, and is not begun twice.
import { expect, onTestFinished, test } from "vitest";
import { LineRecorder } from "../../../test/support/line-recorder.ts";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { DueTimer } from "../../store/store.ts";
import { systemClock } from "../../values/clock.ts";
import { type DueTimerProcessor, type Processed, Scheduler } from "./scheduler.ts";

/** A scheduler on a store in which these executions are due, until they are processed. */
function schedulerOf(due: Set<string>, process: (executionId: string) => Promise<Processed>) {
  const timer = (executionId: string): DueTimer => ({
    kind: "timer",
    executionId,
    workflowId: "nap",
    dueAt: 0,
  });
  const scheduler = new Scheduler({
    store: wrapStore(memoryStore(), { due: async () => [...due].map(timer) }),
    clock: systemClock,
    logger: new LineRecorder(),
    workflowIds: ["nap"],
    period: 60_000,
    storageFailed: () => false,
  });
  onTestFinished(() => scheduler.stop());
  const processor: DueTimerProcessor = {
    room: 10,
    roomForLimits: 10,
    standsBack: () => new Set(),
    keepFor: () => () => undefined,
    process: async ({ executionId }) => {
      const processed = await process(executionId);
      if (processed === "done") due.delete(executionId);
      return processed;
    },
    wakeBefore: async () => "refused",
    roundEnded: () => undefined,
  };
  scheduler.start(processor);
  return scheduler;
}

test("a round does not wait for one execution, whose timer is tried once at a time and again when it was refused", async () => {
  const locked = Promise.withResolvers<Processed>();
  const begun: string[] = [];
  const due = new Set(["locked", "first"]);
  const scheduler = schedulerOf(due, async (executionId) => {
    begun.push(executionId);
    return executionId === "locked" && begun.filter((each) => each === "locked").length === 1
      ? locked.promise
      : "done";
  });
  await expect.poll(() => begun).toEqual(["locked", "first"]);
  due.add("second");
  scheduler.look();
  await expect.poll(() => begun).toEqual(["locked", "first", "second"]);
  // It counts as busy as long as something is being processed.
  expect(scheduler.round).toBeDefined();
  locked.resolve("refused");
  await expect.poll(() => due.size).toBe(0);
  expect(begun).toEqual(["locked", "first", "second", "locked"]);
  await expect.poll(() => scheduler.round).toBeUndefined();
});

test("stopping waits for what is being processed", async () => {
  const slow = Promise.withResolvers<Processed>();
  const order: string[] = [];
  const due = new Set(["slow"]);
  const scheduler = schedulerOf(due, () => {
    order.push("begun");
    return slow.promise;
  });
  await expect.poll(() => order).toEqual(["begun"]);
  // Looked for in vain: the round has left it to itself.
  const rounds = scheduler.round;
  await expect.poll(() => scheduler.round === rounds).toBe(false);
  const stopped = scheduler.stop().then(() => order.push("stopped"));
  await new Promise((resolve) => setImmediate(resolve));
  order.push("processed");
  slow.resolve("done");
  await stopped;
  expect(order).toEqual(["begun", "processed", "stopped"]);
});
