// One execution from its first commit to its release: every call of the driver to the store and the engine, in order.
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { boundedWait, inTime } from "../../../test/support/in-time.ts";
import { runCommand } from "../../../test/support/run-command.ts";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { StoreRefusedError } from "../../errors/index.ts";
import { encodeEvent } from "../../journal/codec.ts";
import type { JournalEvent, NewEvent } from "../../journal/events.ts";
import { Journal } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import type { Commit, CommitResult } from "../../store/store.ts";
import type { StoredEvent } from "../../store/stored-event.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { andThen } from "../../workflow/steps/free-steps.ts";
import { factsOf } from "../engine/execution-facts.ts";
import { sizeLimits } from "../limits/limits.ts";
import { Driver } from "./driver.ts";
import { nothingKept } from "./execution-fold.ts";
import type { LoadedExecution } from "./loaded-execution.ts";

const flow = () => createWorkflow({ id: "nap", input: z.unknown() });
const named = ({ type, path }: { readonly type: string; readonly path?: string | null }) =>
  path == null ? type : `${type} ${path}`;

interface Surroundings {
  /** The reply to each commit. Default: it is recorded, and an idle request granted. */
  readonly reply?: (commit: Commit) => Partial<CommitResult> | Promise<CommitResult>;
  readonly loaded?: Partial<LoadedExecution>;
  /** The events that another process has written. */
  readonly others?: readonly StoredEvent[];
  readonly isTurn?: boolean;
  readonly storageFails?: boolean;
  readonly events?: number;
  /** Fails the release of the claim. */
  readonly releaseFails?: boolean;
  /** Fails the parking. */
  readonly parkFails?: boolean;
}

/** More calls than any case here makes: then the store replies no more, so that a driver without an end fails its test. */
const mostCalls = 200;

/** A driver of this workflow and its calls. */
function driverOf(workflow: WorkflowDefinition, surroundings: Surroundings = {}) {
  const { engine, clock, logger } = engineForTest({}, { workflows: [workflow] });
  const { reply = () => ({}), loaded, others = [], isTurn = false, storageFails = false } = surroundings;
  const calls: unknown[] = [];
  let reads = 0;
  const journal = new Journal();
  const row = rowForTest();
  const limits = sizeLimits(
    surroundings.events === undefined ? {} : { journal: { events: surroundings.events } },
  );
  const driver = new Driver({
    execution: {
      ...{ workflow, token: "t", suspensions: [], timers: [], stepIndex: 0, paused: false, timeoutAt: null },
      ...{ startAt: 1000, journal, values: new KeptValues(null), input: "5", bytes: 0 },
      ...{ sequence: 1, lastAt: 1000, kept: nothingKept },
      ...loaded,
    },
    facts: { ...factsOf(engine, row, { journal, lastAt: 1000, timers: [], startAt: 0 }), limits },
    store: {
      commit: async (commit) => {
        if (calls.length > mostCalls) return new Promise<never>(() => undefined);
        const { number, after = 0, events, following, idle, end, timers, clear, others: other } = commit;
        calls.push({
          commit: number,
          after,
          ...(events.length > 0 && { events: events.map(named) }),
          ...(following.length > 0 && { following: following.map(named) }),
          ...(timers.length > 0 && { timers }),
          ...(clear.length > 0 && { clear }),
          ...(end !== null && { end: end.status }),
          ...(idle !== null && { idle: [idle.resumes, idle.event?.type] }),
          ...(other !== undefined && { others: other }),
        });
        const isIdle = idle !== null;
        const count = events.length + following.length + (idle?.event ? 1 : 0);
        return { kind: "ok", sequence: after + count, idle: isIdle, ...(await reply(commit)) };
      },
      release: async (release) => {
        calls.push({ release });
        if (surroundings.releaseFails) throw new Error("no release");
      },
      events: async ({ after }) => {
        if (++reads > mostCalls) return new Promise<never>(() => undefined);
        return others.filter(({ sequence }) => sequence > after);
      },
    },
    storage: {
      sent: () => undefined,
      replied: () => undefined,
      wrote: () => undefined,
      failed: () => storageFails,
    },
    publish: (events) =>
      void calls.push({ publish: events.map((event) => `${event.sequence} ${named(event)}`) }),
    settle: (settlement) => void calls.push({ settle: settlement }),
    scheduleWakeup: (at, kind) => void calls.push(`${kind} at ${at}`),
    progress: { notify: () => undefined },
    park: isTurn
      ? undefined
      : async (token, reason) => {
          calls.push({ park: [token, reason] });
          if (surroundings.parkFails) throw new Error("no park");
        },
    leave: (left) => {
      expect(left).toBe(driver);
      calls.push("left");
    },
    reload: () => void calls.push("reload"),
  });
  onTestFinished(() => driver.stop({ kind: "stopped" }, new Error("The test is over")));
  driver.begin();
  const left = () => expect.poll(() => calls.at(-1)).toBe("left");
  return { driver, calls, clock, logger, journal, left };
}

const start = { commit: 1, after: 1, following: ["step-start one"] };
const started = [start, { publish: ["2 step-start one"] }];
const done = {
  ...{ commit: 2, after: 2, events: ["step-complete one"], following: ["workflow-complete"] },
  end: "completed",
};
const elsewhere = { settle: { kind: "elsewhere" } };
const stopped = { settle: { kind: "stopped" } };

/** A workflow whose body runs until the test ends it, and the reasons for which its signal was aborted. */
function heldFlow() {
  const held = Promise.withResolvers<number>();
  const aborted: unknown[] = [];
  const begun = Promise.withResolvers<void>();
  const workflow = flow().andThen({
    id: "one",
    execute: ({ signal }) => {
      signal.addEventListener("abort", () => aborted.push(signal.reason));
      begun.resolve();
      return held.promise;
    },
  });
  return { workflow, held, aborted, begun: boundedWait(begun.promise, "the body") };
}

test("a step is started, run, and recorded with the end", async () => {
  const { driver, calls, left } = driverOf(flow().andThen({ id: "one", execute: () => 1 }));
  expect([driver.isBusy, driver.isRunning, driver.sequence, driver.stepIndex]).toEqual([false, false, 1, 0]);
  driver.run();
  expect([driver.isBusy, driver.startsWork]).toEqual([true, true]);
  await left();
  const settle = { kind: "ended", status: "completed", endAt: 1000, result: "1", error: undefined };
  expect(calls).toEqual([
    ...started,
    done,
    { publish: ["3 step-complete one", "4 workflow-complete"] },
    { settle },
    "left",
  ]);
  expect([driver.idle, driver.isBusy, driver.workflowId, driver.userId, driver.token]).toEqual([
    ...[undefined, false, "nap", "ada", "t"],
  ]);
});

test("a suspension lets it go idle, and its fold is kept", async () => {
  const workflow = flow().andThen({
    id: "one",
    execute: ({ suspend, resumeData }) =>
      resumeData === undefined ? suspend("why", 7, { deadline: 500 }) : 1,
    resumeSchema: z.unknown(),
  });
  const { driver, calls, left, journal } = driverOf(workflow);
  driver.run();
  await left();
  expect(calls).toEqual([
    ...started,
    { commit: 2, after: 2, events: ["step-suspended one"], idle: [0, "workflow-suspended"] },
    { publish: ["3 step-suspended one", "4 workflow-suspended one"] },
    "limit at 1500",
    {
      settle: {
        kind: "suspended",
        suspension: expect.objectContaining({ path: "one", reason: "why", data: "7", deadline: 1500 }),
      },
    },
    "left",
  ]);
  expect(driver.idle).toEqual({
    fold: {
      ...{ startAt: 1000, journal, values: expect.any(KeptValues), input: "5", kept: nothingKept },
      ...{ sequence: 4, lastAt: 1000, bytes: expect.any(Number) },
    },
    suspensions: [expect.objectContaining({ path: "one", reason: "why", data: "7", deadline: 1500 })],
    ...{ timers: [], stepIndex: 0, timeoutAt: null },
  });
});

test("a suspension without a deadline schedules nothing", async () => {
  const { driver, calls, left } = driverOf(
    flow().andThen({ id: "one", execute: ({ suspend }) => suspend() }),
  );
  driver.run();
  await left();
  expect(calls.filter((call) => typeof call === "string")).toEqual(["left"]);
});

test("a sleep that is not short lets it go idle, and its callers wait on", async () => {
  const { driver, calls, left } = driverOf(flow().andSleep({ id: "one", duration: 1001 }));
  driver.run();
  await left();
  expect(calls).toEqual([
    {
      ...{ commit: 1, after: 1, following: ["step-start one"], timers: [{ path: "one", dueAt: 2001 }] },
      idle: [0, undefined],
    },
    { publish: ["2 step-start one"] },
    "sleep at 2001",
    "left",
  ]);
});

test("during a short sleep it stays", async () => {
  const { driver, calls, left, clock } = driverOf(flow().andSleep({ id: "one", duration: 1000 }));
  driver.run();
  await expect.poll(() => calls).toHaveLength(2);
  expect(driver.isBusy).toBe(false);
  clock.advance(999);
  expect(calls).toHaveLength(2);
  clock.advance(1);
  await left();
  expect(calls.slice(0, 4)).toEqual([
    { commit: 1, after: 1, following: ["step-start one"], timers: [{ path: "one", dueAt: 2000 }] },
    { publish: ["2 step-start one"] },
    {
      ...{ commit: 2, after: 2, following: ["step-complete one", "workflow-complete"], clear: ["one"] },
      end: "completed",
    },
    { publish: ["3 step-complete one", "4 workflow-complete"] },
  ]);
});

test("a pause while a body runs: its outcome is recorded, and nothing follows from it", async () => {
  const { workflow, held, begun, aborted } = heldFlow();
  const { driver, calls, left } = driverOf(workflow.andThen({ id: "two", execute: () => 2 }));
  driver.run();
  await begun;
  expect([driver.isRunning, driver.isBusy]).toEqual([true, true]);
  driver.pause({ sequence: 3, timestamp: 1000 });
  driver.pause({ sequence: 3, timestamp: 1000 });
  expect(driver.startsWork).toBe(false);
  held.resolve(1);
  await left();
  expect(calls).toEqual([
    ...started,
    { commit: 2, after: 3, events: ["step-complete one"], others: { sequence: 3, at: 1000 } },
    { publish: ["4 step-complete one"] },
    { commit: 3, after: 4, idle: [0, undefined] },
    { publish: [] },
    elsewhere,
    "left",
  ]);
  expect([driver.idle, aborted]).toEqual([undefined, []]);
});

test("a pause that the store reports holds the consequences back", async () => {
  const { driver, calls, left } = driverOf(
    flow()
      .andThen({ id: "one", execute: () => 1 })
      .andThen({ id: "two", execute: () => 2 }),
    { reply: ({ number }) => (number === 2 ? { kind: "paused", sequence: 4 } : {}) },
  );
  driver.run();
  await left();
  expect(calls.slice(2)).toEqual([
    { commit: 2, after: 2, events: ["step-complete one"], following: ["step-start two"] },
    { publish: ["4 step-complete one"] },
    { commit: 3, after: 4, idle: [0, undefined] },
    { publish: [] },
    elsewhere,
    "left",
  ]);
  expect(driver.idle).toBeUndefined();
});

test("a pause that is lifted while the body runs has no consequences; a late event of it counts no more", async () => {
  const { workflow, held, begun } = heldFlow();
  const { driver, calls, left, journal } = driverOf(workflow.andThen({ id: "two", execute: () => 2 }), {
    loaded: { timeoutAt: 5000 },
  });
  driver.run();
  await begun;
  const lifted = (sequence: number): JournalEvent => ({
    ...{ sequence, timestamp: 1000, path: null, stepIndex: 0, suspensionId: "s", resumeData: undefined },
    ...{ userId: undefined, byDeadline: false, expired: false, pausedFor: 10 },
    type: "workflow-resumed",
  });
  driver.pause({ sequence: 3, timestamp: 1000 });
  driver.deliver([lifted(1), lifted(4), lifted(4)]);
  driver.pause({ sequence: 3, timestamp: 1000 });
  expect([driver.startsWork, driver.sequence, journal.resumes]).toEqual([true, 4, 1]);
  held.resolve(1);
  await left();
  expect(calls[2]).toEqual({
    ...{ commit: 2, after: 4, events: ["step-complete one"], following: ["step-start two"] },
    others: { sequence: 4, at: 1000 },
  });
});

test("a drain waits for the body, then gives the claim back for others", async () => {
  const { workflow, held, begun } = heldFlow();
  const { driver, calls, left } = driverOf(workflow.andThen({ id: "two", execute: () => 2 }));
  driver.run();
  await begun;
  driver.drain();
  expect([driver.startsWork, calls]).toEqual([false, started]);
  held.resolve(1);
  await left();
  expect(calls.slice(2)).toEqual([
    { commit: 2, after: 2, events: ["step-complete one"] },
    { publish: ["3 step-complete one"] },
    { release: { executionId: "e1", token: "t", offer: true } },
    stopped,
    "left",
  ]);
});

test("a release at once aborts the body, with a reason, and happens once", async () => {
  const { workflow, held, begun, aborted } = heldFlow();
  const { driver, calls } = driverOf(workflow);
  driver.run();
  await begun;
  driver.releaseNow();
  driver.releaseNow();
  driver.stop({ kind: "elsewhere" }, new Error("again"));
  held.resolve(1);
  await held.promise;
  expect(calls.slice(2)).toEqual([
    { release: { executionId: "e1", token: "t", offer: true } },
    stopped,
    "left",
  ]);
  expect(aborted).toEqual([new Error("The process stops")]);
  expect(driver.isRunning).toBe(false);
});

test.each(["ended", "fenced"] as const)("a commit that is %s stops it", async (kind) => {
  const { workflow, held, begun, aborted } = heldFlow();
  const { driver, calls, left } = driverOf(workflow.andThen({ id: "two", execute: () => 2 }), {
    reply: ({ number }) => (number === 1 ? {} : { kind }),
  });
  driver.run();
  await begun;
  held.resolve(1);
  await left();
  expect(calls.slice(3)).toEqual([elsewhere, "left"]);
  expect(aborted).toEqual([new Error("The execution was ended or taken over elsewhere")]);
});

test("a store that has lost commits is one warning, and the execution is loaded again", async () => {
  const { driver, calls, logger } = driverOf(flow().andThen({ id: "one", execute: () => 1 }), {
    reply: () => ({ kind: "lost" }),
  });
  driver.run();
  await expect.poll(() => calls.at(-1)).toBe("reload");
  expect(calls).toEqual([start, elsewhere, "left", "reload"]);
  expect(logger.lines).toEqual([
    {
      ...{
        level: "warn",
        msg: "the store has lost commits of the execution: it is loaded again and repeats them",
      },
      ...{ workflowId: "nap", executionId: "e1", userId: "ada" },
    },
  ]);
});

test("a commit that the store refuses ends the execution, with all its timers", async () => {
  const { driver, calls, left } = driverOf(flow().andThen({ id: "one", execute: () => 1 }), {
    loaded: { timers: [{ path: "nap", dueAt: 9 }] },
    reply: ({ number, end }) =>
      number === 1 && end === null ? Promise.reject(new StoreRefusedError({ operation: "commit" })) : {},
  });
  driver.run();
  await left();
  const error = expect.objectContaining({ message: "The store refused the operation commit" });
  expect(calls).toEqual([
    start,
    { commit: 1, after: 1, following: ["workflow-error"], clear: ["nap"], end: "error" },
    { publish: ["2 workflow-error"] },
    { settle: { kind: "ended", status: "error", endAt: 1000, result: undefined, error } },
    "left",
  ]);
});

test.each([
  [new Error("gone"), false, 1],
  [new Error("gone"), true, 0],
  [new StoreRefusedError({ operation: "commit" }), false, 1],
])("a store that fails for good (%s, storage %s) stops it", async (failure, storageFails, lines) => {
  const { driver, calls, logger, left } = driverOf(flow().andThen({ id: "one", execute: () => 1 }), {
    ...{ storageFails, reply: () => Promise.reject(failure) },
  });
  driver.run();
  await left();
  expect(calls.slice(-2)).toEqual([stopped, "left"]);
  expect(logger.lines).toEqual(
    Array(lines).fill({
      ...{ level: "error", msg: "a commit of the execution failed" },
      ...{ workflowId: "nap", executionId: "e1", userId: "ada" },
      err: expect.objectContaining({ message: failure.message }),
    }),
  );
});

const stored = (event: NewEvent, sequence: number): StoredEvent => ({ ...encodeEvent(event), sequence });
const own = stored(
  {
    ...{ type: "step-start", timestamp: 1000 },
    ...{ path: "one", stepIndex: 0, stepType: "andThen", input: "5" },
  },
  2,
);
const pausedBy = (sequence: number) =>
  stored(
    {
      ...{ timestamp: 1000, path: null, stepIndex: 0, suspensionId: "s", userId: undefined },
      ...{ reason: "", suspendedAt: 1000, deadline: undefined, data: undefined },
      type: "workflow-suspended",
    },
    sequence,
  );
const cancelled: NewEvent = {
  ...{ timestamp: 1000, reason: undefined, userId: undefined, suspensionId: undefined },
  type: "workflow-cancelled",
};

test("a look finds a pause of another process", async () => {
  const { workflow, begun } = heldFlow();
  const { driver, calls } = driverOf(workflow, { others: [own, pausedBy(3)] });
  driver.run();
  await begun;
  driver.look();
  expect(driver.isBusy).toBe(true);
  await expect.poll(() => driver.startsWork).toBe(false);
  expect([driver.sequence, calls]).toEqual([3, started]);
});

test("a look finds the end by another process", async () => {
  const { workflow, begun, aborted } = heldFlow();
  const { driver, calls, left } = driverOf(workflow, { others: [own, stored(cancelled, 3)] });
  driver.run();
  await begun;
  driver.look();
  await left();
  expect(calls.slice(2)).toEqual([elsewhere, "left"]);
  expect(aborted).toEqual([new Error("The execution was ended or taken over elsewhere")]);
});

test("a look that finds an event of a newer release gives the claim back", async () => {
  const { workflow, begun, aborted } = heldFlow();
  const newer = { ...stored(cancelled, 3), type: "workflow-danced" };
  const { driver, calls, left, logger } = driverOf(workflow, { others: [own, newer] });
  driver.run();
  await begun;
  driver.look();
  await left();
  const problem = 'Event 3 of the journal has the type "workflow-danced", which this release does not know';
  expect(calls.slice(2)).toEqual([{ release: { executionId: "e1", token: "t" } }, elsewhere, "left"]);
  expect(aborted).toMatchObject([{ message: problem }]);
  expect(logger.lines).toEqual([
    {
      ...{ level: "warn", msg: "released execution: journal was written by a newer version" },
      ...{ workflowId: "nap", executionId: "e1", userId: "ada" },
      err: expect.objectContaining({ message: problem }),
    },
  ]);
});

test("a failed attempt is a warning, unless it ends the execution", async () => {
  let attempts = 0;
  const retried = flow().andThen({
    id: "one",
    retry: { attempts: 3, delay: 0 },
    execute: () => {
      throw new Error(`attempt ${++attempts}`);
    },
  });
  const { driver, left, logger } = driverOf(retried);
  driver.run();
  await left();
  const line = (attempt: number) => ({
    ...{ level: "warn", msg: "the step failed and is tried again", stepPath: "one", attempt },
    ...{ workflowId: "nap", executionId: "e1", userId: "ada" },
    err: expect.objectContaining({ message: `attempt ${attempt}` }),
  });
  expect(logger.lines).toEqual([line(1), line(2)]);
});

test("events of a body are commits of their own, and come to nothing after the end", async () => {
  const { held } = heldFlow();
  let emit: (type: string, data?: unknown) => void = () => undefined;
  const workflow = flow().andThen({
    id: "one",
    execute: (context) => {
      emit = context.emit;
      emit("half", 1);
      emit("most", 2);
      return held.promise;
    },
  });
  const { driver, calls, left } = driverOf(workflow);
  driver.run();
  await expect.poll(() => calls).toHaveLength(4);
  driver.stop({ kind: "elsewhere" }, new Error("over"));
  emit("late", 3);
  await left();
  expect(calls.slice(2)).toEqual([
    { commit: 2, after: 2, events: ["emitted one", "emitted one"] },
    { publish: ["3 emitted one", "4 emitted one"] },
    elsewhere,
    "left",
  ]);
});

test("an execution whose journal is full ends with that, and its bodies are aborted", async () => {
  const many = flow()
    .andThen({ id: "one", execute: () => 1 })
    .andThen({ id: "two", execute: () => 2 });
  const { driver, calls, left } = driverOf(many, { events: 4 });
  driver.run();
  await left();
  expect(calls.slice(2)).toEqual([
    { commit: 2, after: 2, events: ["step-complete one"], following: ["step-start two"] },
    { publish: ["3 step-complete one", "4 step-start two"] },
    { commit: 3, after: 4, events: ["step-complete two"], following: ["workflow-error"], end: "error" },
    { publish: ["5 step-complete two", "6 workflow-error"] },
    {
      settle: expect.objectContaining({
        ...{ kind: "ended", status: "error" },
        error: expect.objectContaining({
          message: expect.stringContaining("The journal of the execution holds"),
        }),
      }),
    },
    "left",
  ]);
});

test.each([true, false])("one that is never granted its idleness is given up (turn: %s)", async (isTurn) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { driver, calls, logger, left } = driverOf(flow().andSleep({ id: "one", duration: 5000 }), {
    ...{ isTurn, reply: ({ idle, after = 0 }) => (idle === null ? {} : { idle: false, sequence: after }) },
    loaded: { journal: new Journal() },
  });
  driver.run();
  await left();
  const reason = "The execution was continued 20 times without a new event";
  if (isTurn) {
    expect(calls.slice(-4)).toEqual([
      expect.objectContaining({ following: ["workflow-error"], clear: ["one"], end: "error" }),
      { publish: [expect.stringContaining("workflow-error")] },
      { settle: expect.objectContaining({ error: expect.objectContaining({ message: reason }) }) },
      "left",
    ]);
    return;
  }
  expect(calls.slice(-3)).toEqual([{ park: ["t", reason] }, elsewhere, "left"]);
  expect(logger.lines).toEqual([
    {
      ...{ level: "error", msg: "execution parked: it makes no progress", stepPath: "" },
      ...{ workflowId: "nap", executionId: "e1", userId: "ada" },
      err: expect.objectContaining({ message: reason }),
    },
  ]);
});

test("a checkpoint is a commit of its own, and the body continues with it", async () => {
  const workflow = flow().andThen({
    id: "one",
    execute: async ({ checkpoint }) => (await checkpoint("a", () => 1)) + (await checkpoint("b", () => 2)),
  });
  const { driver, calls, left } = driverOf(workflow);
  driver.run();
  await left();
  expect(calls.slice(2)).toEqual([
    { commit: 2, after: 2, events: ["checkpoint-complete one#a"] },
    { publish: ["3 checkpoint-complete one#a"] },
    { commit: 3, after: 3, events: ["checkpoint-complete one#b"] },
    { publish: ["4 checkpoint-complete one#b"] },
    { ...done, commit: 4, after: 4 },
    { publish: ["5 step-complete one", "6 workflow-complete"] },
    { settle: expect.objectContaining({ result: "3" }) },
    "left",
  ]);
});

test("a checkpoint that waits long for its next attempt lets the execution go idle", async () => {
  const workflow = flow().andThen({
    id: "one",
    execute: ({ checkpoint }) =>
      checkpoint("a", () => Promise.reject(new Error("no")), {
        retry: { attempts: 2, delay: 5000, jitter: false },
      }),
  });
  const { driver, calls, left, logger } = driverOf(workflow);
  driver.run();
  await left();
  expect(calls.slice(2)).toEqual([
    {
      ...{ commit: 2, after: 2, events: ["checkpoint-retry one#a"], idle: [0, undefined] },
      timers: [{ path: "one", dueAt: 6000 }],
    },
    { publish: ["3 checkpoint-retry one#a"] },
    "sleep at 6000",
    "left",
  ]);
  expect(logger.lines).toMatchObject([
    { msg: "the checkpoint failed and is tried again", stepPath: "one#a" },
  ]);
});

test("in a race a failed branch is a warning, and the branches that lost are aborted", async () => {
  const aborted: unknown[] = [];
  const fails = andThen({ id: "fails", execute: () => Promise.reject(new Error("no")) });
  const wins = andThen({ id: "wins", execute: async () => 1 });
  const loses = andThen({
    id: "loses",
    execute: ({ signal }) =>
      new Promise(() => signal.addEventListener("abort", () => aborted.push(String(signal.reason)))),
  });
  const { driver, left, logger } = driverOf(flow().andRace({ id: "race", steps: [fails, loses, wins] }));
  driver.run();
  await left();
  expect(logger.lines).toEqual([
    {
      ...{ level: "warn", msg: "the step failed", stepPath: "race/fails", attempt: 1 },
      ...{ workflowId: "nap", executionId: "e1", userId: "ada" },
      err: expect.objectContaining({ message: "no" }),
    },
  ]);
  expect(aborted).toEqual(["Error: Another branch has decided"]);
});

test("a resume of one branch is taken in while another one runs", async () => {
  const { held } = heldFlow();
  const gate = andThen({
    id: "gate",
    resumeSchema: z.unknown(),
    execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend() : resumeData),
  });
  const slow = andThen({ id: "slow", execute: () => held.promise });
  const { driver, calls, left, journal } = driverOf(flow().andAll({ id: "all", steps: [gate, slow] }));
  driver.run();
  await expect.poll(() => journal.get("all/gate")?.suspension).toBeDefined();
  await expect.poll(() => driver.sequence).toBe(5);
  const resumed: JournalEvent = {
    ...{ sequence: 6, timestamp: 1000, path: "all/gate", stepIndex: 0, resumeData: "7" },
    ...{ userId: undefined, byDeadline: false, expired: false },
    type: "workflow-resumed",
    suspensionId: journal.get("all/gate")?.suspension?.suspensionId ?? "",
  };
  driver.deliver([resumed]);
  await expect.poll(() => driver.sequence).toBe(7);
  held.resolve(8);
  await left();
  expect(calls.at(-2)).toMatchObject({ settle: { status: "completed", result: "[7,8]" } });
});

test("a result whose schema is asynchronous is waited for", async () => {
  const schema = z.number().refine(async (value) => value === 1, "not one");
  const result = (value: number) =>
    createWorkflow({ id: "nap", input: z.unknown(), result: schema }).andThen({
      id: "one",
      execute: () => value,
    });
  const good = driverOf(result(1));
  good.driver.run();
  await good.left();
  expect(good.calls.at(-2)).toMatchObject({ settle: { status: "completed", result: "1" } });
  const bad = driverOf(result(2));
  bad.driver.run();
  await bad.left();
  expect(bad.calls.at(-2)).toMatchObject({
    settle: { status: "error", error: { message: expect.stringContaining("not one") } },
  });
});

test("consequences that a pause held back follow when it is lifted elsewhere", async () => {
  const completed: NewEvent = {
    type: "step-complete",
    ...{ timestamp: 1000, path: "one", stepIndex: 0, stepType: "andThen", output: "1", usage: undefined },
  };
  const lifted: NewEvent = {
    type: "workflow-resumed",
    ...{ timestamp: 1000, path: null, stepIndex: 0, suspensionId: "s", resumeData: undefined },
    ...{ userId: undefined, byDeadline: false, expired: false, pausedFor: 10 },
  };
  const { driver, calls, left } = driverOf(
    flow()
      .andThen({ id: "one", execute: () => 1 })
      .andThen({ id: "two", execute: () => 2 }),
    {
      others: [own, pausedBy(3), stored(completed, 4), stored(lifted, 5)],
      reply: ({ number }) =>
        number === 2 || number === 3 ? { kind: "paused", sequence: 4, idle: false } : {},
    },
  );
  driver.run();
  await left();
  expect(calls.slice(4, 7)).toEqual([
    { commit: 3, after: 4, idle: [0, undefined] },
    { publish: [] },
    { commit: 4, after: 5, following: ["step-start two"], others: { sequence: 5, at: 1000 } },
  ]);
  expect(calls.at(-2)).toMatchObject({ settle: { status: "completed", result: "2" } });
});

const checkpoint = (path: string) => ({ path, output: "1", startedAt: 900, attempt: 1 });

test("a checkpoint for later is in the next commit, which it does not ask for", async () => {
  const { workflow, begun } = heldFlow();
  const { driver, calls } = driverOf(workflow);
  driver.run();
  await begun;
  const later = driver.checkpointDone(runCommand("one"), checkpoint("one#a"), { later: true });
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual(started);
  driver.commitCheckpoints();
  await inTime(later, "the commit");
  expect(calls.slice(2)).toEqual([
    { commit: 2, after: 2, events: ["checkpoint-complete one#a"] },
    { publish: ["3 checkpoint-complete one#a"] },
  ]);
  await inTime(driver.checkpointDone(runCommand("one"), checkpoint("one#b"), { later: false }), "the commit");
  expect(calls.slice(4)).toEqual([
    { commit: 3, after: 3, events: ["checkpoint-complete one#b"] },
    { publish: ["4 checkpoint-complete one#b"] },
  ]);
});

test("a checkpoint after the end is rejected: the outcome of its body is lost", async () => {
  const { workflow, begun } = heldFlow();
  const { driver, calls } = driverOf(workflow);
  driver.run();
  await begun;
  const waiting = driver.checkpointDone(runCommand("one"), checkpoint("one#a"), { later: true });
  driver.stop({ kind: "elsewhere" }, new Error("over"));
  const late = driver.checkpointDone(runCommand("one"), checkpoint("one#b"));
  for (const each of [waiting, late])
    await expect(inTime(each, "the rejection")).rejects.toThrow("The execution is no longer run here");
  expect(calls.slice(2)).toEqual([elsewhere, "left"]);
});

test("a new execution: its first events are taken for its creation, and the next commit follows them", async () => {
  const { driver, calls, left } = driverOf(flow().andThen({ id: "one", execute: () => 1 }), {
    loaded: { sequence: 0, lastAt: 1000 },
  });
  expect(driver.takeFirstEvents(2)).toMatchObject([{ type: "step-start", path: "one", timestamp: 1000 }]);
  expect(driver.sequence).toBe(2);
  driver.run();
  await left();
  expect(calls[0]).toEqual({ ...done, commit: 1, after: 2 });
});

test("a claim that cannot be given back is left to the lease", async () => {
  const idle = driverOf(flow().andThen({ id: "one", execute: () => 1 }), { releaseFails: true });
  idle.driver.drain();
  await idle.left();
  expect(idle.calls).toEqual([{ release: { executionId: "e1", token: "t", offer: true } }, stopped, "left"]);
  const { workflow, begun } = heldFlow();
  const running = driverOf(workflow, { releaseFails: true });
  running.driver.run();
  await begun;
  running.driver.releaseNow();
  await running.left();
  expect(running.calls.slice(2)).toEqual(idle.calls);
});

test("one that is stopped while it gives its claim back leaves once", async () => {
  const { driver, calls } = driverOf(flow().andThen({ id: "one", execute: () => 1 }));
  driver.drain();
  driver.stop({ kind: "elsewhere" }, new Error("over"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual([{ release: { executionId: "e1", token: "t", offer: true } }, elsewhere, "left"]);
});

test("one that is loaded while it is paused goes idle at once, and its fold is not kept", async () => {
  const { driver, calls, left } = driverOf(flow().andThen({ id: "one", execute: () => 1 }), {
    loaded: { paused: true },
  });
  expect(driver.startsWork).toBe(false);
  driver.run();
  await left();
  expect(calls).toEqual([{ commit: 1, after: 1, idle: [0, undefined] }, { publish: [] }, elsewhere, "left"]);
  expect(driver.idle).toBeUndefined();
});

const rewound: NewEvent = {
  ...{ type: "execution-rewound", timestamp: 1000, stepIndex: 0, path: "one", resumeData: undefined },
  userId: undefined,
};

test("a look finds that another process has gone back to an earlier step", async () => {
  const { workflow, begun } = heldFlow();
  const { driver, calls, left } = driverOf(workflow, { others: [own, stored(rewound, 3)] });
  driver.run();
  await begun;
  driver.look();
  await left();
  expect(calls.slice(2)).toEqual([elsewhere, "left"]);
});

test("an end that is found while a commit is in flight is left to the reply of the store", async () => {
  const { workflow, begun, held } = heldFlow();
  const reply = Promise.withResolvers<CommitResult>();
  const { driver, calls, left } = driverOf(workflow, {
    others: [own, stored(cancelled, 3)],
    reply: ({ number }) => (number === 1 ? {} : reply.promise),
  });
  driver.run();
  await begun;
  held.resolve(1);
  await expect.poll(() => calls).toHaveLength(3);
  driver.look();
  await new Promise((resolve) => setImmediate(resolve));
  expect([calls.length, driver.sequence]).toEqual([3, 3]);
  reply.resolve({ kind: "ended", sequence: 3, idle: false });
  await left();
  expect(calls.slice(3)).toEqual([elsewhere, "left"]);
});

test("one that cannot be parked stops as with a store that fails", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { driver, calls, logger, left } = driverOf(flow().andSleep({ id: "one", duration: 5000 }), {
    ...{ parkFails: true },
    reply: ({ idle, after = 0 }) => (idle === null ? {} : { idle: false, sequence: after }),
  });
  driver.run();
  await left();
  expect(calls.slice(-2)).toEqual([stopped, "left"]);
  expect(logger.lines.map(({ msg }) => msg)).toEqual([
    "execution parked: it makes no progress",
    "a commit of the execution failed",
  ]);
});

test("limits wait for the sleeps before them, and are scheduled when the execution leaves", async () => {
  const { driver, calls, left } = driverOf(flow().andSleep({ id: "one", duration: 900 }));
  driver.run();
  await expect.poll(() => calls).toHaveLength(2);
  expect([driver.holds(1899), driver.holds(1900)]).toEqual([false, true]);
  driver.stop({ kind: "elsewhere" }, new Error("over"));
  await left();
  expect(calls.slice(2)).toEqual(["limit at 1900", elsewhere, "left"]);
});

test("the failure of a step explains more than a full journal; a full journal clears the timers", async () => {
  const failing = flow().andThen({
    id: "one",
    execute: () => {
      throw new Error("mine");
    },
  });
  const failed = driverOf(failing, { events: 2 });
  failed.driver.run();
  await failed.left();
  expect(failed.calls.at(-2)).toMatchObject({ settle: { error: { message: "mine" } } });
  const full = driverOf(flow().andThen({ id: "one", execute: () => 1 }), {
    events: 2,
    loaded: { timers: [{ path: "old", dueAt: 5000 }] },
  });
  full.driver.run();
  await full.left();
  expect(full.calls[2]).toMatchObject({ events: ["step-complete one"], clear: ["old"], end: "error" });
  expect(full.calls.at(-2)).toMatchObject({
    settle: { error: { message: expect.stringContaining("The journal of the execution holds 4 events") } },
  });
});

test("a journal that is full ends the execution while bodies run, and aborts them", async () => {
  const aborted: unknown[] = [];
  const slow = andThen({
    id: "slow",
    execute: ({ signal }) =>
      new Promise(() => signal.addEventListener("abort", () => aborted.push(signal.reason))),
  });
  const quick = andThen({ id: "quick", execute: async () => 1 });
  const { driver, calls, left } = driverOf(flow().andAll({ id: "all", steps: [slow, quick] }), { events: 4 });
  driver.run();
  await left();
  expect(calls.at(-2)).toMatchObject({ settle: { status: "error" } });
  expect(aborted).toEqual([new Error("The execution has ended")]);
});

test("resumes that were delivered before, or were known when it was loaded, are not taken in again", async () => {
  const { workflow, begun } = heldFlow();
  const { driver, journal } = driverOf(workflow);
  driver.run();
  await begun;
  const event = (sequence: number, path: string | null): JournalEvent => ({
    ...{ sequence, timestamp: 1000, path, stepIndex: 0, suspensionId: "s", resumeData: undefined },
    ...{ userId: undefined, byDeadline: false, expired: false, type: "workflow-resumed" },
  });
  driver.deliver([event(1, null), event(3, "other"), event(3, "other"), event(4, null), stepDone(5)]);
  expect([journal.resumes, driver.sequence]).toEqual([2, 4]);
  driver.deliver([event(4, null)]);
  expect(journal.resumes).toBe(2);
});

const stepDone = (sequence: number): JournalEvent => ({
  ...{ type: "step-complete", timestamp: 1000, path: "one", stepIndex: 0, stepType: "andThen", output: "1" },
  ...{ usage: undefined, sequence },
});

const liftedAfter = (pausedFor: number): JournalEvent => ({
  ...{ sequence: 2, timestamp: 1000, path: null, stepIndex: 0, suspensionId: "s", resumeData: undefined },
  ...{ userId: undefined, byDeadline: false, expired: false, pausedFor, type: "workflow-resumed" },
});

test("the time of a pause moves the timeout of the execution", async () => {
  const nap = flow().andSleep({ id: "one", duration: 5000 });
  const { driver, left } = driverOf(nap, { loaded: { timeoutAt: 9000 } });
  driver.deliver([liftedAfter(70)]);
  await left();
  expect(driver.idle).toMatchObject({
    timeoutAt: 9070,
    timers: [{ path: "one", dueAt: 6000 }],
    stepIndex: 0,
  });
});

test("no more bodies than a slice begin in one turn of the event loop, also when commits come between", async () => {
  const begun: number[] = [];
  let turns = 0;
  const count = () => {
    turns++;
    if (turns < 50) setImmediate(count);
  };
  const items = Array.from({ length: 900 }, (_, index) => index);
  const each = flow().andForEach({
    ...{ id: "each", concurrency: 2000, items: () => items },
    step: andThen({
      id: "one",
      execute: ({ emit }) => {
        begun.push(turns);
        // Each event asks for a commit, which must not start the bodies that wait.
        if (begun.length < 20) emit("begun", 1);
        return new Promise(() => undefined);
      },
    }),
  });
  const { driver } = driverOf(each);
  driver.run();
  count();
  await expect.poll(() => begun.length).toBe(900);
  const inTurn = Map.groupBy(begun, (at) => at);
  expect(Math.max(...[...inTurn.values()].map(({ length }) => length))).toBeLessThanOrEqual(500);
});
