// The scheduler's rounds: what takes long in one execution does not hold up the others, and nothing is tried too often.
import { expect, onTestFinished, test } from "vitest";
import { LineRecorder } from "../../../test/support/line-recorder.ts";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { DueTimer } from "../../store/store.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { type Clock, systemClock } from "../../values/clock.ts";
import { type DueTimerProcessor, type Processed, Scheduler } from "./scheduler.ts";

/** A scheduler that finds these timers, and hands them to `process`. */
function schedulerOn(
  due: () => readonly DueTimer[],
  process: DueTimerProcessor["process"],
  clock: Clock = systemClock,
) {
  const scheduler = new Scheduler({
    store: wrapStore(memoryStore(), { due: async () => due() }),
    clock,
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
    process,
    wakeBefore: async () => "refused",
    roundEnded: () => undefined,
  };
  scheduler.start(processor);
  return scheduler;
}

/** The same where these executions are due, until they are processed. */
function schedulerOf(due: Set<string>, process: (executionId: string) => Promise<Processed>) {
  const timer = (executionId: string) =>
    ({ kind: "timer", executionId, workflowId: "nap", dueAt: 0 }) as const;
  return schedulerOn(
    () => [...due].map(timer),
    async ({ executionId }) => {
      const processed = await process(executionId);
      if (processed === "done") due.delete(executionId);
      return processed;
    },
  );
}

/** One whose clock stands still, and the times at which it has tried something. */
function stillScheduler(timers: readonly DueTimer[], process: () => Promise<Processed>) {
  const clock = new TestClock({ start: 0, skipSleeps: false });
  const looks: number[] = [];
  const find = () => {
    looks.push(clock.now());
    return timers;
  };
  const scheduler = schedulerOn(find, process, clock);
  const settled = () => expect.poll(() => scheduler.round).toBeUndefined();
  /** Looks at each of these times. */
  const lookedAt = async (...times: number[]) => {
    await settled();
    for (const time of times) {
      clock.advanceTo(time);
      await settled();
    }
    return looks;
  };
  return { lookedAt };
}

const deadline = (dueAt: number): DueTimer => ({
  ...{ kind: "deadline", executionId: "e", workflowId: "nap", dueAt, timerAt: null },
  ...{ suspensionId: "s", path: "gate", stepIndex: 0 },
});

test("what has to wait for something else in its execution is left to that, and what comes later is not", async () => {
  const { lookedAt } = stillScheduler([deadline(0), deadline(5000)], async () => "held");
  expect(await lookedAt(100, 4999, 5000, 6000)).toEqual([0, 5000]);
});

test("what was refused is tried again soon; what fails a second later, then two, and nothing in between", async () => {
  const refused = stillScheduler([deadline(0)], async () => "refused");
  expect(await refused.lookedAt(99, 100, 150, 200)).toEqual([0, 100, 200]);
  const failing = stillScheduler([deadline(0)], () => Promise.reject(new Error("no")));
  expect(await failing.lookedAt(100, 999, 1000, 1100, 2999, 3000)).toEqual([0, 1000, 3000]);
});

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
