// The scheduler's rounds: slow work of one execution does not hold up the others, and nothing is tried too often.
import { expect, onTestFinished, test, vi } from "vitest";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { DueQuery, DueTimer, Store } from "../../store/store.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { type Clock, systemClock } from "../../values/clock.ts";
import { type DueTimerProcessor, type Processed, Scheduler } from "./scheduler.ts";

/** More than any case here makes. */
const mostPolls = 300;

/** A scheduler that finds these timers, and hands them to `process`. */
function schedulerOn(
  due: (query: DueQuery) => readonly DueTimer[],
  process: DueTimerProcessor["process"],
  clock: Clock = systemClock,
  others: Partial<DueTimerProcessor> = {},
) {
  const logger = new RecordingLogger();
  let polls = 0;
  const scheduler = new Scheduler({
    store: wrapStore(memoryStore(), {
      due: async (query) => {
        if (++polls > mostPolls) throw new Error("it polls without an end");
        return due(query);
      },
    }),
    clock,
    logger,
    agentIds: [],
    workflowIds: ["nap"],
    period: 60_000,
    storage: { failed: () => false },
  });
  onTestFinished(() => scheduler.stop());
  const processor: DueTimerProcessor = {
    room: 10,
    roomForLimits: 10,
    takesSlot: () => true,
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

test("executions that take no slot are woken without room", async () => {
  const takesSlot = ({ executionId }: DueTimer) => executionId !== "turn";
  const usersOverShare = () => new Set(["ada"]);
  expect(
    await firstRound([wakeUp("a"), wakeUp("turn", "ada")], { room: 0, takesSlot, usersOverShare }),
  ).toEqual({ processed: ["timer turn"], kept: [1] });
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

/** A scheduler that is not started, on timers and a clock that only record; and a processor that records, too. */
function recordedScheduler(options: { readonly storageFails?: boolean; readonly period?: number } = {}) {
  const { storageFails = false, period = 60_000 } = options;
  const queries: Parameters<Store["due"]>[0][] = [];
  const alarms: string[] = [];
  const wakes: (() => void)[] = [];
  const slots: string[] = [];
  const tries: string[] = [];
  const logger = new RecordingLogger();
  const state = {
    ...{ now: 0, room: 1e6, timers: [] as readonly DueTimer[] },
    result: (_timer: DueTimer): Promise<Processed> => Promise.resolve("done"),
  };
  const scheduler = new Scheduler({
    store: wrapStore(memoryStore(), {
      due: async (query) => {
        queries.push(query);
        if (queries.length > mostPolls) throw new Error("it polls without an end");
        return state.timers;
      },
    }),
    clock: {
      now: () => state.now,
      at: (time, kind, callback) => {
        alarms.push(`${kind} at ${time}`);
        wakes.push(callback);
        return () => alarms.push(`no ${kind} at ${time}`);
      },
    },
    logger,
    agentIds: [],
    workflowIds: ["nap"],
    period,
    storage: { failed: () => storageFails },
  });
  onTestFinished(() => scheduler.stop());
  const processor: DueTimerProcessor = {
    get room() {
      return state.room;
    },
    roomForLimits: 10,
    takesSlot: () => true,
    usersOverShare: () => new Set(),
    keepFor: (count) => {
      slots.push(`${count} kept`);
      return () => slots.push(`${count} given back`);
    },
    process: (timer, now) => {
      tries.push(`${timer.executionId} at ${now}`);
      return state.result(timer);
    },
    wakeBefore: async () => "refused",
    roundEnded: () => slots.push("round ended"),
  };
  const settled = () => expect.poll(() => scheduler.round).toBeUndefined();
  /** Looks for due timers at a time. */
  const lookAt = async (now: number, timers = state.timers) => {
    Object.assign(state, { now, timers });
    for (const wake of wakes.splice(0)) wake();
    scheduler.look();
    await settled();
  };
  const start = async (...timers: readonly DueTimer[]) => {
    state.timers = timers;
    scheduler.start(processor);
    await settled();
  };
  return {
    ...{ scheduler, state, queries, alarms, wakes, slots, tries, logger, processor },
    lookAt,
    start,
    settled,
  };
}

test("an alarm is set for the earliest time of each kind, from the start to the stop", async () => {
  const { scheduler, alarms, wakes, queries, start, settled } = recordedScheduler();
  scheduler.schedule(40, "sleep");
  scheduler.look();
  expect([alarms, queries]).toEqual([[], []]);
  await start();
  scheduler.schedule(50, "sleep");
  scheduler.schedule(50, "sleep");
  scheduler.schedule(60, "sleep");
  scheduler.schedule(50, "limit");
  scheduler.schedule(30, "sleep");
  expect(alarms).toEqual(["sleep at 50", "limit at 50", "no sleep at 50", "sleep at 30"]);
  wakes[2]?.();
  await settled();
  expect(queries).toEqual(Array(2).fill({ agentIds: [], workflowIds: ["nap"], limit: 200 }));
  // The alarm that has rung is forgotten.
  scheduler.schedule(70, "sleep");
  await scheduler.stop();
  expect(alarms.slice(4)).toEqual(["sleep at 70", "no limit at 50", "no sleep at 70"]);
  scheduler.schedule(10, "sleep");
  scheduler.look();
  expect(alarms).toHaveLength(7);
  expect(queries).toHaveLength(2);
});

test("the times of wake-ups and of limits that are found get alarms of their kinds", async () => {
  const { alarms, start, tries } = recordedScheduler();
  await start({ ...wakeUp("a"), dueAt: 300 }, { ...timeout("b", null), dueAt: 200 }, deadline(100));
  expect(alarms).toEqual(["sleep at 300", "limit at 200", "no limit at 200", "limit at 100"]);
  expect(tries).toEqual([]);
});

test("polls on its period until the stop, which leaves no timer behind", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { scheduler, queries, start, settled } = recordedScheduler({ period: 500 });
  await start();
  expect(queries).toHaveLength(1);
  vi.advanceTimersByTime(499);
  expect(queries).toHaveLength(1);
  vi.advanceTimersByTime(1);
  await settled();
  expect(queries).toHaveLength(2);
  await scheduler.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test("a look during a round leads to one more round after it", async () => {
  const { scheduler, queries, slots, processor, settled } = recordedScheduler();
  scheduler.start(processor);
  scheduler.look();
  scheduler.look();
  await settled();
  expect(queries).toHaveLength(2);
  expect(slots).toEqual(["round ended", "round ended"]);
});

test("slots are kept for timers that found none until the next round, once for each shortage", async () => {
  const { scheduler, state, slots, tries, start, settled } = recordedScheduler();
  scheduler.roomFreed();
  state.room = 0;
  state.result = async ({ executionId }) => {
    state.timers = state.timers.filter((timer) => timer.executionId !== executionId);
    return "done";
  };
  await start({ ...wakeUp("a"), dueAt: 0 }, { ...wakeUp("b"), dueAt: 0 });
  expect(slots).toEqual(["round ended"]);
  state.room = 2;
  scheduler.roomFreed();
  scheduler.roomFreed();
  await settled();
  expect(slots).toEqual(["round ended", "2 kept", "2 given back", "2 given back", "round ended"]);
  expect(tries).toEqual(["a at 0", "b at 0"]);
});

test("held, failing and slow executions do not take the places of others in a query", async () => {
  const { state, queries, scheduler, processor, settled, tries } = recordedScheduler();
  const slow = Promise.withResolvers<Processed>();
  state.now = 10;
  state.result = async ({ executionId }) => {
    if (executionId === "failing") throw new Error("no");
    if (executionId === "slow") return slow.promise;
    if (executionId === "held") return "held";
    return tries.length === 4 ? "done" : "refused";
  };
  state.timers = ["failing", "slow", "held", "done"].map((id) => wakeUp(id));
  scheduler.start(processor);
  // The round continues without the slow one.
  await expect.poll(() => queries.length).toBe(2);
  expect(queries.map(({ limit }) => limit)).toEqual([200, 203]);
  state.timers = [];
  slow.resolve("refused");
  await settled();
  expect(tries).toEqual(["failing", "slow", "held", "done", "held", "done"].map((id) => `${id} at 10`));
});

/** These timers as a store finds them. */
function dueIn(rows: ReadonlyMap<string, DueTimer>, { after = -1, limit }: DueQuery): readonly DueTimer[] {
  const found = [...rows.values()].filter(({ dueAt }) => dueAt > after);
  return found.sort((a, b) => a.dueAt - b.dueAt).slice(0, limit);
}

test("beside a backlog, timers that fall due meanwhile are processed in the next round", async () => {
  const clock = new TestClock({ start: 10_000, skipSleeps: false });
  const timer = (executionId: string, dueAt: number): DueTimer => ({
    ...{ kind: "timer", executionId, workflowId: "nap", userId: null },
    dueAt,
  });
  const rows = new Map(Array.from({ length: 1000 }, (_, at) => [`late ${at}`, timer(`late ${at}`, at)]));
  const processed: string[] = [];
  schedulerOn(
    (query) => dueIn(rows, query),
    async ({ executionId }) => {
      processed.push(executionId);
      rows.delete(executionId);
      if (executionId === "late 100") {
        for (const [index, name] of ["one", "two"].entries()) rows.set(name, timer(name, 10_020 + index));
        clock.advanceTo(10_050);
      }
      return "done";
    },
    clock,
    { room: 150 },
  );
  await expect.poll(() => rows.size).toBe(0);
  // The room of a round is shared by the backlog and the others, one by one.
  expect(processed.slice(150, 155)).toEqual(["late 150", "one", "late 151", "two", "late 152"]);
  expect(processed.length).toBe(1002);
});

test("beside a backlog, a timer that finds no slot when it falls due is among the next, and a limit keeps its place", async () => {
  const clock = new TestClock({ start: 10_000, skipSleeps: false });
  const of = { workflowId: "nap", userId: null };
  const timer = (executionId: string, dueAt: number): DueTimer => ({
    kind: "timer",
    executionId,
    dueAt,
    ...of,
  });
  const rows = new Map(Array.from({ length: 1000 }, (_, at) => [`late ${at}`, timer(`late ${at}`, at)]));
  const processed: string[] = [];
  let rounds = 0;
  schedulerOn(
    (query) => dueIn(rows, query),
    async ({ executionId }) => {
      processed.push(executionId);
      rows.delete(executionId);
      if (executionId === "late 100") {
        rows.set("new", timer("new", 10_020));
        rows.set("limit", { ...of, kind: "timeout", executionId: "limit", dueAt: 10_021, timerAt: null });
        clock.advanceTo(10_050);
      }
      return "done";
    },
    clock,
    // In the second round the user has no slot.
    { room: 150, usersOverShare: () => new Set(++rounds === 2 ? [null] : []) },
  );
  await expect.poll(() => rounds).toBe(2);
  clock.advanceTo(10_400);
  await expect.poll(() => rows.size).toBe(0);
  expect(processed.slice(150, 153)).toEqual(["late 150", "new", "late 151"]);
  expect(processed.indexOf("limit")).toBeGreaterThan(800);
});

test("an execution that was held and then refused is tried again soon", async () => {
  const { state, start, alarms, tries } = recordedScheduler();
  state.now = 10;
  state.result = async ({ executionId }) => {
    if (executionId === "a") return tries.length === 1 ? "held" : "refused";
    state.timers = [wakeUp("a")];
    return "done";
  };
  await start(wakeUp("a"), wakeUp("b"));
  expect(tries).toEqual(["a at 10", "b at 10", "a at 10"]);
  expect(alarms).toEqual(["sleep at 110"]);
});

test("the pause after a failure doubles up to a minute, and starts anew after a success or a long silence", async () => {
  const { state, start, alarms, lookAt, logger } = recordedScheduler();
  const fail = () => Promise.reject(new Error("no"));
  state.result = fail;
  state.now = 10;
  await start(wakeUp("e"));
  const pauses: number[] = [];
  const note = () => pauses.push(Number(alarms.at(-1)?.split(" ").at(-1)) - state.now);
  note();
  for (let failures = 1; failures < 8; failures++) {
    await lookAt(state.now + (pauses.at(-1) ?? 0));
    note();
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  state.result = async () => {
    state.timers = [];
    return "done";
  };
  await lookAt(state.now + 60_000);
  state.result = fail;
  await lookAt(state.now, [wakeUp("e")]);
  note();
  await lookAt(state.now + 1000 + 59_999, []);
  await lookAt(state.now, [wakeUp("e")]);
  note();
  await lookAt(state.now + 2000 + 60_000, []);
  await lookAt(state.now, [wakeUp("e")]);
  note();
  expect(pauses.slice(8)).toEqual([1000, 2000, 1000]);
  expect(logger.lines).toHaveLength(11);
});

test("a failure of the storage is left to its watch, and the timer tried again soon", async () => {
  const { state, start, alarms, logger } = recordedScheduler({ storageFails: true });
  state.result = () => Promise.reject(new Error("no"));
  state.now = 10;
  await start(wakeUp("e"));
  expect(alarms).toEqual(["sleep at 110"]);
  state.timers = [];
  expect(logger.lines).toEqual([]);
});

test("a poll that the storage fails is left to its watch", async () => {
  const { scheduler, state, alarms, logger, processor, settled } = recordedScheduler({ storageFails: true });
  Object.defineProperty(state, "timers", {
    get: () => {
      throw new Error("no");
    },
  });
  scheduler.start(processor);
  await settled();
  expect([alarms, logger.lines]).toEqual([["sleep at 100"], []]);
});

test("a thousand failing executions are remembered; more are tried again soon", async () => {
  const { state, start, tries, lookAt } = recordedScheduler();
  state.result = () => Promise.reject(new Error("no"));
  state.now = 10;
  const ids = Array.from({ length: 1001 }, (_, index) => `e${index}`);
  await start(...ids.map((id) => wakeUp(id)));
  expect(tries).toHaveLength(1001);
  await lookAt(500);
  expect(new Set(tries.slice(1001))).toEqual(new Set(["e1000 at 500"]));
});

test.each([
  [1000, "leaves them to themselves", ["round ended"]],
  [1001, "waits for all of them", []],
])("a round of %i slow executions %s", async (count, _, ended) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { scheduler, state, slots, processor, settled } = recordedScheduler();
  const slow = Promise.withResolvers<Processed>();
  state.now = 10;
  state.result = () => slow.promise;
  state.timers = Array.from({ length: count }, (_each, index) => wakeUp(`e${index}`));
  scheduler.start(processor);
  await expect.poll(() => vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(199);
  expect(slots).toEqual([]);
  state.timers = [];
  await vi.advanceTimersByTimeAsync(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(slots).toEqual(ended);
  expect(scheduler.round).toBeDefined();
  slow.resolve("done");
  await settled();
});
