// The scheduler's rounds: slow work of one execution does not hold up the others, and nothing is tried too often.
import { expect, onTestFinished, test } from "vitest";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { DueTimer } from "../../store/store.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { type Clock, systemClock } from "../../values/clock.ts";
import { type DueTimerProcessor, type Processed, Scheduler } from "./scheduler.ts";

/** A scheduler that finds these timers, and hands them to `process`. */
function schedulerOn(
  due: () => readonly DueTimer[],
  process: DueTimerProcessor["process"],
  clock: Clock = systemClock,
  others: Partial<DueTimerProcessor> = {},
) {
  const logger = new RecordingLogger();
  const scheduler = new Scheduler({
    store: wrapStore(memoryStore(), { due: async () => due() }),
    clock,
    logger,
    workflowIds: ["nap"],
    period: 60_000,
    storage: { failed: () => false },
  });
  onTestFinished(() => scheduler.stop());
  const processor: DueTimerProcessor = {
    room: 10,
    roomForLimits: 10,
    usersOverShare: () => new Set(),
    keepFor: () => () => undefined,
    process,
    wakeBefore: async () => "refused",
    roundEnded: () => undefined,
    ...others,
  };
  scheduler.start(processor);
  return Object.assign(scheduler, { logger });
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

/** A scheduler on a clock that does not move by itself, and the times of its tries. */
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

test("a deadline that its execution holds back is left to that, and later ones are not", async () => {
  const { lookedAt } = stillScheduler([deadline(0), deadline(5000)], async () => "held");
  expect(await lookedAt(100, 4999, 5000, 6000)).toEqual([0, 5000]);
});

test("a refused timer is tried again soon; a failing one a second later, then two, and never in between", async () => {
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

test("stopping waits for the timers being processed", async () => {
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

const timeout = (executionId: string, timerAt: number | null): DueTimer => ({
  ...{ kind: "timeout", executionId, workflowId: "nap", dueAt: 10, timerAt },
});
const wakeUp = (executionId: string, userId: string | null = null): DueTimer => ({
  ...{ kind: "timer", executionId, workflowId: "nap", dueAt: 5, userId },
});

/** The timers that a first round processes, and how many places are kept for the others once there is room. */
async function firstRound(timers: readonly DueTimer[], others: Partial<DueTimerProcessor>) {
  const clock = new TestClock({ start: 20, skipSleeps: false });
  const processed: string[] = [];
  const kept: number[] = [];
  const scheduler = schedulerOn(
    () => timers,
    async ({ kind, executionId }) => {
      processed.push(`${kind} ${executionId}`);
      return "refused";
    },
    clock,
    {
      wakeBefore: async ({ kind, dueAt, executionId }, limit) => {
        processed.push(`${kind} ${executionId} at ${dueAt} before its ${limit.kind}`);
        return "refused";
      },
      keepFor: (count) => {
        kept.push(count);
        return () => undefined;
      },
      ...others,
    },
  );
  await expect.poll(() => scheduler.round).toBeUndefined();
  const first = [...processed];
  scheduler.roomFreed();
  await expect.poll(() => scheduler.round).toBeUndefined();
  return { processed: first, kept };
}

test("no more are woken than there is room for; the others get the room that is freed", async () => {
  const timers = ["a", "b", "c", "d", "e"].map((id) => wakeUp(id));
  expect(await firstRound(timers, { room: 2 })).toEqual({
    processed: ["timer a", "timer b"],
    kept: [3],
  });
  expect(await firstRound(timers, { room: 5 })).toMatchObject({ processed: { length: 5 }, kept: [] });
});

test("a timeout needs no room; a wake-up that comes before one has room of its own, which counts for the others", async () => {
  const limits = [
    timeout("at-once", null),
    timeout("later", 11),
    ...["a", "b", "c"].map((id) => timeout(id, 10)),
  ];
  expect(await firstRound(limits, { roomForLimits: 2 })).toEqual({
    processed: [
      "timeout at-once",
      "timeout later",
      "timer a at 10 before its timeout",
      "timer b at 10 before its timeout",
    ],
    kept: [1],
  });
  const both = [timeout("a", 9), wakeUp("a"), wakeUp("b"), wakeUp("c")];
  expect(await firstRound(both, { room: 2 })).toEqual({
    processed: ["timer a at 9 before its timeout", "timer b"],
    kept: [1],
  });
});

test("the executions of a user who has its share are not woken now, and do not wait for room", async () => {
  const timers = [wakeUp("hers", "ada"), wakeUp("his", "bob"), wakeUp("ours")];
  expect(await firstRound(timers, { usersOverShare: () => new Set(["ada"]) })).toEqual({
    processed: ["timer his", "timer ours"],
    kept: [],
  });
  expect(await firstRound(timers, { usersOverShare: () => new Set([null]) })).toMatchObject({
    processed: ["timer hers", "timer his"],
  });
});

test("a timer that cannot be processed is logged with its execution", async () => {
  const broken = new Error("no");
  const { logger } = schedulerOn(
    () => [wakeUp("e")],
    () => Promise.reject(broken),
    new TestClock({ start: 20, skipSleeps: false }),
  );
  await expect.poll(() => logger.lines).toHaveLength(1);
  expect(logger.lines[0]).toEqual({
    ...{ level: "error", msg: "failed to process due timer", err: broken },
    ...{ executionId: "e", workflowId: "nap", kind: "timer" },
  });
});

test("a poll that fails is logged and tried again soon", async () => {
  const clock = new TestClock({ start: 0, skipSleeps: false });
  let polls = 0;
  const scheduler = schedulerOn(
    () => {
      if (++polls === 1) throw new Error("no");
      return [];
    },
    async () => "done",
    clock,
  );
  await expect.poll(() => scheduler.round).toBeUndefined();
  expect(scheduler.logger.lines).toMatchObject([
    { level: "warn", msg: "failed to poll for due timers; trying again", err: new Error("no") },
  ]);
  clock.advanceTo(99);
  await expect.poll(() => scheduler.round).toBeUndefined();
  expect(polls).toBe(1);
  clock.advanceTo(100);
  await expect.poll(() => scheduler.round).toBeUndefined();
  expect(polls).toBe(2);
});
