// The engine: which executions it holds, how it loads and releases them, and its lines.
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { inTime } from "../../../test/support/in-time.ts";
import { plainKind } from "../../../test/support/plain-kind.ts";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { JournalDamagedError } from "../../errors/index.ts";
import { encodeEvent } from "../../journal/codec.ts";
import type { JournalEvent, NewEvent } from "../../journal/events.ts";
import { type Failure, origin } from "../../journal/failure.ts";
import { Journal } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import type { ExecutionRow, Store, StoredExecution } from "../../store/store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { fingerprintOf } from "../../workflow/outline.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { nothingKept } from "../run/execution-fold.ts";
import type { LoadedExecution } from "../run/loaded-execution.ts";
import type { EngineKind } from "./engine-kind.ts";
import { reportUnregistered } from "./report-unregistered.ts";

const flow = () => createWorkflow({ id: "nap", input: z.unknown() });
const nap = flow().andThen({ id: "one", execute: () => new Promise(() => undefined) });
const events: readonly NewEvent[] = [
  { type: "workflow-start", timestamp: 1, input: undefined, traceparent: undefined, replayOf: undefined },
];
const journalOf = (given: readonly NewEvent[]): Store["events"] =>
  vi.fn(async ({ after }) =>
    given.map((event, index) => ({ ...encodeEvent(event), sequence: index + 1 })).slice(after),
  );

/** An engine on a store with this execution, and the calls of its store. */
function engineWith(fields: Partial<ExecutionRow> = {}, workflow: WorkflowDefinition = nap, gone = false) {
  const calls: unknown[] = [];
  const { definition } = fingerprintOf(workflow);
  const state: StoredExecution = {
    execution: rowForTest({ sequence: 1, definition, ...fields }),
    ...{ suspensions: [], timers: [], usage: null },
  };
  const note =
    (name: string) =>
    async (argument: unknown): Promise<void> =>
      void calls.push({ [name]: argument });
  const made = engineForTest(
    {
      state: async () => (gone ? undefined : state),
      events: journalOf(events),
      commit: async ({ after = 0, following }) => ({
        kind: "ok",
        sequence: after + following.length,
        idle: false,
      }),
      release: note("release"),
      park: note("park"),
      adopt: note("adopt"),
      unpark: note("unpark"),
      define: note("define"),
      outline: async () => fingerprintOf(flow().andThen({ id: "other", execute: () => 1 })).outline,
    },
    { workflows: [workflow] },
  );
  const { engine } = made;
  const claim = { owner: engine.claims.owner, token: "t" };
  const load = () => engine.load({ executionId: "e1", kind: engine.workflowKind, claim });
  return { ...made, calls, load, claim };
}

test("a loaded execution runs here until the engine closes, which names it", async () => {
  const { engine, load, logger, calls } = engineWith();
  const loading = load();
  expect([engine.isBusy, engine.has("e1"), engine.holds("e1", "t"), engine.running]).toEqual([
    ...[true, true, true, 0],
  ]);
  await loading;
  await expect.poll(() => engine.isRunning("nap")).toBe(true);
  expect([engine.running, engine.room, engine.has("e1"), engine.has("e2")]).toEqual([1, 9, true, false]);
  expect([engine.holds("e1", "t"), engine.holds("e1", "other"), engine.isRunning("other")]).toEqual([
    ...[true, false, false],
  ]);
  expect((await engine.driver("e1"))?.executionId).toBe("e1");
  const { settled } = engine.waiters.wait("e1");
  await engine.close(0);
  expect(await inTime(settled, "the settlement")).toEqual({ kind: "stopped" });
  expect(calls).toEqual([{ release: { executionId: "e1", token: "t", offer: true } }]);
  expect(logger.of("warn")).toEqual([
    {
      ...{ level: "warn", count: 1, executions: [{ workflowId: "nap", executionId: "e1" }] },
      msg: "closing without waiting longer for bodies that run: they run again at the next start",
    },
  ]);
  expect([engine.room, engine.closing, engine.isBusy]).toEqual([0, true, false]);
  expect(() => engine.checkIntake(null)).toThrow("shut");
});

test("one that is gone, has ended or does not fit is not run, and its callers read the store", async () => {
  for (const made of [engineWith({}, nap, true), engineWith({ endAt: 5 })]) {
    const { settled } = made.engine.waiters.wait("e1");
    await made.load();
    expect(await inTime(settled, "the settlement")).toEqual({ kind: "elsewhere" });
    expect([made.engine.has("e1"), made.calls, made.engine.room]).toEqual([false, [], 10]);
  }
});

test("one that began with another definition adopts the current one where that fits", async () => {
  const { engine, load, calls } = engineWith({ definition: "before" });
  await load();
  expect(calls).toEqual([
    { adopt: { executionId: "e1", token: "t", definition: fingerprintOf(nap).definition } },
  ]);
  expect(engine.running).toBe(1);
});

test("one whose journal cannot be read is released, and the load fails", async () => {
  const { engine, load, calls } = engineWith();
  vi.spyOn(engine.folds, "take").mockRejectedValue(new JournalDamagedError({ sequence: 1, problem: "x" }));
  await expect(load()).rejects.toThrow();
  expect(calls).toEqual([{ release: { executionId: "e1", token: "t", offer: false } }]);
  expect([engine.has("e1"), engine.room]).toEqual([false, 10]);
});

test("a claim from before the end of a lease is given back and looked for again", async () => {
  const { engine, load, calls, claim } = engineWith();
  const found = vi.fn();
  engine.admission.claimAbandoned = found;
  engine.claims.rename();
  engine.claims.announced(engine.claims.owner);
  expect(claim.owner).not.toBe(engine.claims.owner);
  await load();
  expect(calls).toEqual([{ release: { executionId: "e1", token: "t", offer: true } }]);
  await expect.poll(() => found.mock.calls.length).toBe(1);
  expect(engine.has("e1")).toBe(false);
});

test("an execution that is loaded again replaces the driver that was overtaken", async () => {
  const { engine, load, claim } = engineWith();
  await load();
  const first = await engine.driver("e1");
  await engine.load({ executionId: "e1", kind: engine.workflowKind, claim: { ...claim, token: "t2" } });
  const second = await engine.driver("e1");
  expect([first?.isRunning, second?.token, engine.running]).toEqual([false, "t2", 1]);
});

test("kinds without a slot do not count", async () => {
  const released: string[] = [];
  const made = engineWith({ kind: "turn" });
  const kind: EngineKind = {
    ...{ ...plainKind, name: "turn", takesSlot: false, store: made.engine.store },
    definition: () => nap,
    released: (executionId) => void released.push(executionId),
  };
  await made.engine.load({ executionId: "e1", kind, claim: made.claim });
  expect([made.engine.running, made.engine.room, made.engine.has("e1")]).toEqual([0, 10, true]);
  const driver = await made.engine.driver("e1");
  driver?.stop({ kind: "elsewhere" }, new Error("over"));
  expect([made.engine.has("e1"), released]).toEqual([false, ["e1"]]);
});

test("a kind is found by its name", () => {
  const { engine } = engineWith();
  expect(engine.kind("workflow")).toBe(engine.workflowKind);
  expect(() => engine.kind("turn")).toThrow("no kind of executions is named turn");
});

test("wake-ups go to the scheduler; progress is reported once", async () => {
  const { engine, scheduled } = engineWith();
  engine.scheduleWakeup(7, "limit");
  expect(scheduled).toEqual(["limit at 7"]);
  const next = engine.progress.next();
  expect(engine.progress.next()).toBe(next);
  engine.progress.notify();
  await next;
  expect(engine.progress.next()).not.toBe(next);
});

test("definitions are made known, and executions that they parked are reconsidered", async () => {
  const { engine, calls } = engineWith();
  const { definition, outline } = fingerprintOf(nap);
  await engine.definitions.register();
  await engine.definitions.unparkOwn();
  expect(calls).toEqual([
    { define: { definition, outline, seen: { workflowId: expect.any(String), at: expect.any(Number) } } },
    { unpark: { workflowId: "nap", definition, own: false } },
    // Again: a failover may have lost it.
    { define: { definition, outline, seen: { workflowId: expect.any(String), at: expect.any(Number) } } },
    { unpark: { workflowId: "nap", definition, own: true } },
  ]);
  expect(() => engine.definitions.current("other")).toThrow("the workflow other is not registered");
  expect(() => engine.workflow("other")).toThrow(expect.objectContaining({ status: 404 }));
});

test("a journal that has reached a step which is gone does not fit", async () => {
  const { engine } = engineWith();
  const journal = new Journal();
  const row = { workflowId: "nap", definition: "before" };
  expect(await engine.definitions.incompatibility(row, journal)).toBeUndefined();
  journal.started("other", 0, "1", 5);
  expect(await engine.definitions.incompatibility({ ...row, definition: null }, journal)).toBeUndefined();
  expect(await engine.definitions.incompatibility(row, journal)).toContain("other");
});

test("an execution that does not fit is parked, with one line that names its step", async () => {
  const { engine, calls, logger } = engineWith();
  const journal = new Journal();
  journal.started("other/inner", 0, "1", 5);
  journal.started("other", 0, "1", 5);
  const row = rowForTest({ definition: "before" });
  expect(await engine.workflowKind.fits(row, journal, "t")).toBe(false);
  const { definition } = fingerprintOf(nap);
  expect(calls).toEqual([
    { park: { executionId: "e1", token: "t", reason: expect.any(String), definition } },
  ]);
  expect(logger.lines).toEqual([
    {
      ...{
        level: "error",
        msg: "execution parked: its workflow has changed incompatibly",
        stepPath: "other",
      },
      ...{ workflowId: "nap", executionId: "e1", userId: "ada" },
      err: expect.objectContaining({ name: "DefinitionChangedError" }),
    },
  ]);
});

const failed = (error: Partial<Failure>): JournalEvent => ({
  type: "workflow-error",
  ...{ timestamp: 5, sequence: 9, error: { name: "Error", message: "no", ...error } },
});

test.each([
  [failed({ step: "list/one" }), 0, { stepPath: "list/one" }],
  [
    failed({ step: "list/one", [origin]: { attempt: 3, thrown: new Error("no") } }),
    0,
    { stepPath: "list/one", attempt: 3 },
  ],
  [failed({}), 0, { stepPath: "one" }],
  [failed({}), 5, {}],
  [failed({}), undefined, {}],
])("a failure is one line with its step: %o at %s", (event, stepIndex, where) => {
  const { engine, logger } = engineWith();
  engine.publish(rowForTest(), [event], stepIndex);
  expect(logger.lines).toEqual([
    {
      ...{ level: "error", msg: "the execution failed", ...where },
      ...{ workflowId: "nap", executionId: "e1", userId: "ada" },
      err: expect.objectContaining({ message: "no" }),
    },
  ]);
});

test("events are published to followers and hooks; only a failure at the end is a line", async () => {
  const onEnd = vi.fn();
  const hooked = createWorkflow({ id: "nap", input: z.unknown(), hooks: { onEnd } }).andThen({
    ...{ id: "one", execute: () => 1 },
  });
  const { engine, logger } = engineWith({}, hooked);
  const published = vi.spyOn(engine.feed, "publish");
  const progress = engine.progress.next();
  const done = { type: "workflow-complete", timestamp: 5, result: "1", sequence: 10 } as const;
  engine.publish(rowForTest(), [failed({}), done], 0);
  await progress;
  expect(published).toHaveBeenCalledWith("e1", [failed({}), done]);
  expect(logger.lines).toEqual([]);
  expect(onEnd).toHaveBeenCalledTimes(2);
  // One whose workflow is not registered has no hooks.
  engine.publish(rowForTest({ workflowId: "other" }), [done]);
  await Promise.resolve();
  expect(onEnd).toHaveBeenCalledTimes(2);
});

test("executions of workflows that are not registered are one line", async () => {
  const { engine, logger } = engineWith();
  const countUnfinished = vi.fn<Store["countUnfinished"]>(async () => [
    { workflowId: "nap", count: 1 },
    { workflowId: "gone", count: 2 },
  ]);
  const parts = {
    store: { ...engine.store, countUnfinished },
    workflows: engine.workflows,
    logger: engine.logger,
  };
  await reportUnregistered(parts);
  expect(logger.lines).toEqual([
    {
      ...{ level: "warn", workflows: [{ workflowId: "gone", executions: 2 }] },
      msg: "executions of workflows that are not registered do not continue: register the workflows again, or cancel them",
    },
  ]);
  countUnfinished.mockResolvedValue([{ workflowId: "nap", count: 1 }]);
  await reportUnregistered(parts);
  expect(logger.lines).toHaveLength(1);
});

test("claims are refused until a heartbeat under the name of the process has arrived", () => {
  const { engine } = engineWith();
  const { claims } = engine;
  const before = claims.owner;
  claims.rename();
  claims.announced(before);
  expect(claims.isAnnounced).toBe(false);
  expect(() => claims.taker).toThrow(
    expect.objectContaining({
      cause: new Error("the lease of this process has ended, and no heartbeat has reached the store since"),
    }),
  );
  claims.announced(claims.owner);
  expect(claims.taker).toBe(claims.owner);
});

test("a claim is held by its token, or by the part before its last dot, while it is on its way", async () => {
  const { claims } = engineWith().engine;
  await claims.during(
    "key.1",
    async (claim) => {
      expect(
        ["key.1", "key.1.e1", "key.2", "key", "other.key.1"].map((token) => claims.holds(token)),
      ).toEqual([...[true, true, false, false, false]]);
      expect(claim).toEqual({ executionId: "e1", isOvertaken: false });
      claims.overtake("e2");
      expect(claim.isOvertaken).toBe(false);
      claims.overtake("e1");
      expect(claim.isOvertaken).toBe(true);
    },
    "e1",
  );
  expect(claims.holds("key.1")).toBe(false);
});

const loaded = (fields: Partial<LoadedExecution> = {}): LoadedExecution => ({
  ...{ workflow: nap, token: "t", suspensions: [], timers: [], stepIndex: 0, paused: false, timeoutAt: null },
  ...{ startAt: 1000, journal: new Journal(), values: new KeptValues(null), input: "5", bytes: 0 },
  ...{ sequence: 1, lastAt: 1000, kept: nothingKept },
  ...fields,
});

/** A kind without slots on the store of this engine, and the executions that were released. */
function slotless(engine: ReturnType<typeof engineWith>["engine"], fields: Partial<EngineKind> = {}) {
  const released: string[] = [];
  const kind: EngineKind = {
    ...{ ...plainKind, name: "turn", takesSlot: false, store: engine.store, definition: () => nap },
    released: (executionId) => void released.push(executionId),
    ...fields,
  };
  return { kind, released };
}

test("an execution that is being created takes a slot until it is admitted and ended, or discarded", () => {
  const { engine } = engineWith();
  const { driver, claim } = engine.prepare(engine.workflowKind, rowForTest(), loaded());
  expect(claim).toEqual({ owner: engine.claims.owner, token: "t" });
  expect([
    engine.room,
    engine.running,
    engine.isBusy,
    engine.isStarting("e1"),
    engine.isStarting("e2"),
  ]).toEqual([...[9, 0, true, true, false]]);
  expect([engine.holds("e1", "t"), engine.holds("e1", "other"), engine.has("e1")]).toEqual([
    true,
    false,
    false,
  ]);
  engine.admit(driver);
  expect([engine.room, engine.running, engine.isStarting("e1"), engine.has("e1")]).toEqual([
    9,
    1,
    false,
    true,
  ]);
  driver.stop({ kind: "elsewhere" }, new Error("over"));
  expect([engine.room, engine.running, engine.isBusy]).toEqual([10, 0, false]);
  const other = engine.prepare(engine.workflowKind, rowForTest({ executionId: "e2" }), loaded());
  expect(engine.room).toBe(9);
  engine.discard(other.driver);
  expect([engine.room, engine.isStarting("e2"), engine.isBusy, engine.holds("e2", "t")]).toEqual([
    ...[10, false, false, false],
  ]);
});

test("one without a slot counts neither while it is created nor while it runs, and is released once", async () => {
  const { engine } = engineWith();
  const { kind, released } = slotless(engine);
  const first = engine.prepare(kind, rowForTest(), loaded());
  expect(engine.room).toBe(10);
  engine.discard(first.driver);
  expect([engine.room, released]).toEqual([10, ["e1"]]);
  const second = engine.prepare(kind, rowForTest(), loaded());
  engine.admit(second.driver);
  const third = engine.prepare(
    engine.workflowKind,
    rowForTest({ executionId: "e3" }),
    loaded({ token: "t3" }),
  );
  expect([engine.room, engine.running]).toEqual([9, 0]);
  engine.admit(third.driver);
  expect([engine.room, engine.running]).toEqual([9, 1]);
  second.driver.stop({ kind: "elsewhere" }, new Error("over"));
  expect([engine.room, engine.running, released]).toEqual([9, 1, ["e1", "e1"]]);
});

test("the share of a user counts executions that run and that are being created, with slots", () => {
  const { engine } = engineWith();
  const { kind } = slotless(engine);
  for (let count = 0; count < 3; count++) {
    const executionId = `e${count}`;
    const { driver } = engine.prepare(
      engine.workflowKind,
      rowForTest({ executionId }),
      loaded({ token: executionId }),
    );
    engine.admit(driver);
  }
  engine.prepare(engine.workflowKind, rowForTest({ executionId: "e3" }), loaded({ token: "e3" }));
  engine.prepare(kind, rowForTest({ executionId: "e4" }), loaded({ token: "e4" }));
  engine.admission.slots.waits("bob");
  expect(engine.admission.slots.usersOverShare()).toEqual(new Set());
  engine.prepare(engine.workflowKind, rowForTest({ executionId: "e5" }), loaded({ token: "e5" }));
  expect(engine.admission.slots.usersOverShare()).toEqual(new Set(["ada"]));
});

test("a full process refuses starts; one that stops refuses them with another error", () => {
  const { engine } = engineWith();
  engine.checkIntake("ada");
  const giveBack = engine.admission.slots.reserve(10);
  expect(() => engine.checkIntake("ada")).toThrow(expect.objectContaining({ status: 503 }));
  giveBack();
  expect(engine.closing).toBe(false);
  engine.stopIntake();
  expect([engine.closing, engine.room]).toEqual([true, 0]);
});

test("a process that stops while an execution is created gives it back at once", async () => {
  const { engine, calls } = engineWith();
  const { driver } = engine.prepare(engine.workflowKind, rowForTest(), loaded());
  engine.stopIntake();
  engine.admit(driver);
  expect(calls).toEqual([{ release: { executionId: "e1", token: "t", offer: true } }]);
  await expect.poll(() => engine.has("e1")).toBe(false);
});

test("a body counts for its own workflow, beside bodies of others", async () => {
  const { engine } = engineWith();
  const other = createWorkflow({ id: "other", input: z.unknown() }).andThen({
    ...{ id: "one", execute: () => new Promise(() => undefined) },
  });
  for (const workflow of [nap, other]) {
    const row = rowForTest({ executionId: workflow.id, workflowId: workflow.id });
    const { driver } = engine.prepare(engine.workflowKind, row, loaded({ workflow, token: workflow.id }));
    engine.admit(driver);
  }
  await expect.poll(() => engine.isRunning("nap") && engine.isRunning("other")).toBe(true);
  expect(engine.isRunning("third")).toBe(false);
});

test("progress is notified when an execution is loaded, publishes events, and leaves", async () => {
  const { engine, load } = engineWith();
  const progressed = async (work: () => unknown) => {
    const next = engine.progress.next().then(() => "progress");
    await work();
    return Promise.race([next, new Promise((resolve) => setImmediate(() => resolve("none")))]);
  };
  const commit = vi.spyOn(engine.store, "commit").mockReturnValue(new Promise(() => undefined));
  expect(await progressed(load)).toBe("progress");
  expect(await progressed(() => undefined)).toBe("none");
  expect(
    await progressed(async () => (await engine.driver("e1"))?.stop({ kind: "elsewhere" }, new Error("x"))),
  ).toBe("progress");
  commit.mockRestore();
  const published = vi.spyOn(engine.workflowKind, "publish");
  const driver = engine.prepare(engine.workflowKind, rowForTest(), loaded()).driver;
  expect(
    await progressed(async () => {
      engine.admit(driver);
      await expect.poll(() => published.mock.calls.length).toBe(1);
    }),
  ).toBe("progress");
  expect(published.mock.calls[0]).toEqual([
    rowForTest(),
    [expect.objectContaining({ type: "step-start" })],
    0,
  ]);
});

test("a command on an execution overtakes its claim on the way, and waits for the load", async () => {
  const { engine, load } = engineWith();
  const overtake = vi.spyOn(engine.claims, "overtake");
  const loading = load();
  const driver = engine.driver("e1");
  expect((await driver)?.token).toBe("t");
  await loading;
  expect(overtake.mock.calls).toEqual([["e1"]]);
  expect(await engine.driver("e2")).toBeUndefined();
});

test("a driver that is overtaken by another load is stopped with the reason", async () => {
  const { engine, load, claim } = engineWith();
  await load();
  const first = await engine.driver("e1");
  const stop = first && vi.spyOn(first, "stop");
  const again = { executionId: "e1", kind: engine.workflowKind, claim: { ...claim, token: "t2" } };
  await Promise.all([engine.load(again), engine.load({ ...again, claim: { ...claim, token: "t3" } })]);
  expect(stop?.mock.calls).toEqual([[{ kind: "elsewhere" }, new Error("The execution was taken over")]]);
  expect([(await engine.driver("e1"))?.token, engine.running, engine.has("e1")]).toEqual(["t3", 1, true]);
});

test("a load that fails behind one that runs does not forget that one", async () => {
  const { engine, load, claim } = engineWith();
  const failing = vi.spyOn(engine.folds, "take").mockRejectedValueOnce(new Error("unreadable"));
  const first = load().catch((error: Error) => error.message);
  const second = engine.load({
    executionId: "e1",
    kind: engine.workflowKind,
    claim: { ...claim, token: "t2" },
  });
  expect([engine.holds("e1", "t2"), engine.holds("e1", "t")]).toEqual([true, false]);
  expect(await first).toBe("unreadable");
  await second;
  expect([failing.mock.calls.length, (await engine.driver("e1"))?.token]).toEqual([2, "t2"]);
});

test("the end of the grace period names twenty bodies and counts all", async () => {
  const { engine, logger } = engineWith();
  for (let count = 0; count < 21; count++) {
    const executionId = `e${count}`;
    const row = rowForTest({ executionId });
    engine.admit(engine.prepare(engine.workflowKind, row, loaded({ token: executionId })).driver);
  }
  await expect.poll(() => engine.drivers.values().every(({ isRunning }) => isRunning)).toBe(true);
  await engine.close(0);
  expect(logger.of("warn")).toMatchObject([{ count: 21, executions: { length: 20 } }]);
});

test("a close without bodies logs nothing, and stops the feeds", async () => {
  const { engine, logger } = engineWith();
  const stopped = [
    vi.spyOn(engine.feed, "stop"),
    vi.spyOn(engine.changes, "stop"),
    vi.spyOn(engine.admission, "close"),
  ];
  await engine.close(1000);
  for (const stop of stopped) expect(stop).toHaveBeenCalledOnce();
  expect(logger.lines).toEqual([]);
});

test("one that goes idle leaves its fold; the state beside it only where callers resume it", async () => {
  const asking = flow().andThen({ id: "one", execute: ({ suspend }) => suspend("why") });
  const { engine } = engineWith({}, asking);
  vi.spyOn(engine.store, "commit").mockImplementation(async ({ after = 0, events, following, idle }) => ({
    ...{ kind: "ok", sequence: after + events.length + following.length + (idle?.event ? 1 : 0) },
    idle: idle !== null,
  }));
  const keep = vi.spyOn(engine.folds, "keep");
  const run = async (kind: EngineKind) => {
    const row = rowForTest({ executionId: kind.name });
    engine.admit(engine.prepare(kind, row, loaded({ workflow: asking })).driver);
    await expect.poll(() => engine.has(kind.name)).toBe(false);
  };
  await run(engine.workflowKind);
  await run(slotless(engine).kind);
  const definition = fingerprintOf(asking).definition;
  expect(
    keep.mock.calls.map(([id, fold, spans, state]) => [
      id,
      fold.sequence,
      spans,
      state?.execution.definition,
    ]),
  ).toEqual([
    ["workflow", 4, undefined, definition],
    ["turn", 4, undefined, undefined],
  ]);
});

test("a kind parks its executions with their rows; wake-ups of a driver reach the scheduler", async () => {
  const parked: unknown[] = [];
  const sleeping = flow().andSleep({ id: "one", duration: 5000 });
  const { engine, scheduled } = engineWith({}, sleeping);
  const { kind } = slotless(engine, {
    park: async (row, token, reason) => void parked.push([row.executionId, token, reason]),
  });
  // An idle request that is never granted: it makes no progress.
  vi.spyOn(engine.store, "commit").mockImplementation(async ({ after = 0, following }) => ({
    ...{ kind: "ok", sequence: after + following.length, idle: false },
  }));
  vi.spyOn(engine.store, "events").mockResolvedValue([]);
  engine.admit(engine.prepare(kind, rowForTest(), loaded({ workflow: sleeping })).driver);
  await expect.poll(() => parked).toHaveLength(1);
  expect(parked).toEqual([["e1", "t", "The execution was continued 20 times without a new event"]]);
  const idle = engineWith({}, sleeping);
  vi.spyOn(idle.engine.store, "commit").mockImplementation(async ({ after = 0, following }) => ({
    ...{ kind: "ok", sequence: after + following.length, idle: true },
  }));
  idle.engine.admit(
    idle.engine.prepare(idle.engine.workflowKind, rowForTest(), loaded({ workflow: sleeping })).driver,
  );
  await expect.poll(() => idle.scheduled).toContain("sleep at 6000");
  expect(scheduled).not.toContain("sleep at 6000");
});

test("a store that has lost commits gives the claim back, and the execution is looked for", async () => {
  const { engine, calls } = engineWith();
  const found = vi.fn();
  engine.admission.claimAbandoned = found;
  vi.spyOn(engine.store, "commit").mockResolvedValue({ kind: "lost", sequence: 0, idle: false });
  engine.admit(engine.prepare(engine.workflowKind, rowForTest(), loaded()).driver);
  await expect.poll(() => found.mock.calls.length).toBe(1);
  expect(calls).toEqual([{ release: { executionId: "e1", token: "t", offer: true } }]);
});
