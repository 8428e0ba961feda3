// The engine: which executions it holds, how it loads and releases them, and its lines.
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { plainKind } from "../../../test/support/plain-kind.ts";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { JournalDamagedError } from "../../errors/index.ts";
import { encodeEvent } from "../../journal/codec.ts";
import type { JournalEvent, NewEvent } from "../../journal/events.ts";
import { type Failure, origin } from "../../journal/failure.ts";
import { Journal } from "../../journal/journal.ts";
import type { ExecutionRow, Store, StoredExecution } from "../../store/store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { fingerprintOf } from "../../workflow/outline.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
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
  expect(await settled).toEqual({ kind: "stopped" });
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
    expect(await settled).toEqual({ kind: "elsewhere" });
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

test("wake-ups go to the scheduler; progress is told once", async () => {
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
    { define: { definition, outline } },
    { unpark: { workflowId: "nap", definition } },
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
