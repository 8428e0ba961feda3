// Recovery call by call: its queries, the executions it loads, and its lines.
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { plainKind } from "../../../test/support/plain-kind.ts";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { StoreUnavailableError } from "../../errors/index.ts";
import type { ClaimAbandoned, ClaimedExecution, Store } from "../../store/store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import type { EngineKind } from "./engine-kind.ts";
import { Recovery } from "./recovery.ts";

const nap = createWorkflow({ id: "nap", input: z.unknown() }).andThen({ id: "one", execute: () => 1 });

/** More than any case here makes. */
const mostQueries = 100;

interface Found {
  readonly kinds?: readonly EngineKind[];
  readonly maxRunning?: number;
  readonly operations?: Partial<Store>;
}

/** A recovery that finds these executions, each once, and only notes which of them it would load. */
function recoveryOf(found: readonly ClaimedExecution[], { operations, ...options }: Found = {}) {
  const left = [...found];
  const queries: Omit<ClaimAbandoned, "owner" | "key">[] = [];
  const released: Parameters<Store["release"]>[0][] = [];
  const claimAbandoned: Store["claimAbandoned"] = async ({ owner, key, ...query }) => {
    queries.push(query);
    if (queries.length > mostQueries) throw new Error("it polls without an end");
    const { only, limit, suspects, suspectAfter, except = [], agentIds = [] } = query;
    const fits = (row: ClaimedExecution) =>
      (only === undefined ? !except.includes(row.executionId) : row.executionId === only) &&
      suspects === row.recoveries >= suspectAfter &&
      (row.kind === "turn") === agentIds.length > 0;
    const rows = left.filter(fits).slice(0, limit);
    for (const row of rows) left.splice(left.indexOf(row), 1);
    return rows.map((row) => ({ row, token: `${key.length === 36 ? "key" : key}.${row.executionId}` }));
  };
  const release: Store["release"] = async (claim) => void released.push(claim);
  const made = engineForTest(
    { claimAbandoned, release, heartbeat: async () => undefined, ...operations },
    { workflows: [nap], ...options },
  );
  const { engine } = made;
  const loaded: string[] = [];
  const state: { failure: unknown } = { failure: undefined };
  vi.spyOn(engine, "load").mockImplementation(async ({ executionId, kind, claim }) => {
    if (state.failure !== undefined) throw state.failure;
    expect(claim).toEqual({ owner: engine.claims.owner, token: `key.${executionId}` });
    loaded.push(`${kind.name} ${executionId}`);
  });
  const recovery = new Recovery(engine, { period: 60_000, lease: 30_000 });
  onTestFinished(() => recovery.stop());
  return { ...made, recovery, queries, released, loaded, left, state };
}

const usual = { workflowIds: ["nap"], suspectAfter: 2, except: [] };
const recovering = (fields: object) => ({
  ...{ level: "info", msg: "recovering an abandoned execution", workflowId: "nap", userId: "ada" },
  ...fields,
});

test("a poll claims as many as there are free slots, then one suspect, and loads them", async () => {
  const rows = [
    rowForTest({ executionId: "a", recoveries: 0 }),
    rowForTest({ executionId: "b", recoveries: 2 }),
  ];
  const { recovery, queries, loaded, logger, engine } = recoveryOf(rows);
  await recovery.poll();
  expect(queries).toEqual([
    { ...usual, limit: 10, suspects: false },
    { ...usual, limit: 1, suspects: true },
  ]);
  expect(loaded).toEqual(["workflow a", "workflow b"]);
  expect(logger.lines).toEqual([
    recovering({ executionId: "a", recoveries: 0 }),
    recovering({ executionId: "b", recoveries: 2 }),
  ]);
  // All slots are given back, and none is known to wait in the store.
  expect([engine.room, engine.admission.hasUnclaimedBacklog]).toEqual([10, false]);
});

test("a full batch is followed by another one, of at most a hundred", async () => {
  const rows = Array.from({ length: 130 }, (_, index) => rowForTest({ executionId: `e${index}` }));
  const { recovery, queries, loaded } = recoveryOf(rows, { maxRunning: 300 });
  await recovery.poll();
  expect(queries).toEqual([
    { ...usual, limit: 100, suspects: false },
    { ...usual, limit: 100, suspects: false },
    { ...usual, limit: 1, suspects: true },
  ]);
  expect(loaded).toEqual(rows.map(({ executionId }) => `workflow ${executionId}`));
});

test("without a free slot nothing is claimed, and the next free slot leads to a poll", async () => {
  const { recovery, queries, engine } = recoveryOf([rowForTest()], { maxRunning: 2 });
  const giveBack = engine.admission.slots.reserve(2);
  await recovery.poll();
  expect([queries, engine.admission.hasUnclaimedBacklog]).toEqual([[], true]);
  giveBack();
  engine.admission.roomFreed();
  await recovery.round;
  expect(queries).toMatchObject([{ limit: 2 }, { limit: 1 }]);
});

test("before the first heartbeat and after the end of the lease nothing is claimed", async () => {
  const { recovery, queries, engine } = recoveryOf([rowForTest()]);
  engine.claims.rename();
  await recovery.poll();
  expect(queries).toEqual([]);
});

test("an engine without workflows claims nothing", async () => {
  const claimAbandoned = vi.fn<Store["claimAbandoned"]>(async () => []);
  const { engine } = engineForTest({ claimAbandoned });
  const recovery = new Recovery(engine, { period: 60_000, lease: 30_000 });
  onTestFinished(() => recovery.stop());
  await recovery.poll();
  expect(await recovery.loadNow("e1")).toBe("refused");
  expect(claimAbandoned).not.toHaveBeenCalled();
});

test("executions without a slot are claimed first, all of them, and none of them is a suspect", async () => {
  const recovered: string[] = [];
  const turns: EngineKind = {
    ...plainKind,
    ...{ name: "turn", noun: "turn", takesSlot: false, claimable: { workflowIds: [], agentIds: ["bot"] } },
    recovered: () => recovered.push("turn"),
    endCrashLoop: async ({ executionId }, token, recoveries) => {
      recovered.push(`ended ${executionId} ${token} after ${recoveries}`);
      return executionId === "e5";
    },
  };
  const rows = Array.from({ length: 101 }, (_, index) =>
    rowForTest({ executionId: `e${index}`, kind: "turn", recoveries: index }),
  );
  const { recovery, queries, loaded } = recoveryOf(rows, { kinds: [turns], maxRunning: 1 });
  await recovery.poll();
  const query = { workflowIds: [], agentIds: ["bot"], limit: 100, except: [], suspects: false };
  expect(queries.slice(0, 2)).toEqual(Array(2).fill({ ...query, suspectAfter: Number.MAX_SAFE_INTEGER }));
  expect(queries.slice(2)).toMatchObject([{ workflowIds: ["nap"] }, { workflowIds: ["nap"] }]);
  // Those with more than five recoveries are offered to their kind.
  const ended = recovered.filter((each) => each !== "turn");
  expect(ended).toEqual(
    Array.from({ length: 95 }, (_, index) => `ended e${index + 6} key.e${index + 6} after 5`),
  );
  expect(loaded).toHaveLength(101);
  expect(recovered).toHaveLength(95 + 101);
});

test("a suspect that runs is waited for; a round follows when it has settled", async () => {
  const rows = ["a", "b"].map((executionId) => rowForTest({ executionId, recoveries: 3 }));
  const { recovery, queries, loaded, engine } = recoveryOf(rows);
  await recovery.poll();
  expect(await recovery.loadNow("b")).toBe("refused");
  await recovery.poll();
  expect(loaded).toEqual(["workflow a"]);
  expect(queries.filter(({ suspects }) => suspects)).toHaveLength(1);
  engine.waiters.settle("a", { kind: "elsewhere" });
  await expect.poll(() => loaded).toEqual(["workflow a", "workflow b"]);
});

test("a suspect that outlives the lease is waited for no longer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const rows = ["a", "b"].map((executionId) => rowForTest({ executionId, recoveries: 3 }));
  const { recovery, loaded, engine } = recoveryOf(rows);
  await recovery.poll();
  await vi.advanceTimersByTimeAsync(29_999);
  expect(loaded).toEqual(["workflow a"]);
  await vi.advanceTimersByTimeAsync(1);
  await expect.poll(() => loaded).toEqual(["workflow a", "workflow b"]);
  expect(engine.waiters.has("a")).toBe(false);
});

test("one that something falls due in is loaded ahead, also as a suspect", async () => {
  const rows = [rowForTest({ executionId: "a" }), rowForTest({ executionId: "b", recoveries: 2 })];
  const { recovery, queries, loaded } = recoveryOf(rows);
  expect(await recovery.loadNow("a")).toBe("done");
  expect(await recovery.loadNow("b")).toBe("done");
  expect(await recovery.loadNow("a")).toBe("refused");
  const one = { workflowIds: ["nap"], suspectAfter: 2, limit: 1 };
  expect(queries).toEqual([
    { ...one, only: "a", suspects: false },
    { ...one, only: "b", suspects: false },
    { ...one, only: "b", suspects: true },
    { ...one, only: "a", suspects: false },
  ]);
  expect(loaded).toEqual(["workflow a", "workflow b"]);
  await recovery.stopPolling();
  expect(await recovery.loadNow("a")).toBe("refused");
  expect(queries).toHaveLength(4);
});

test("one that cannot be loaded is released, logged once and left out for a minute", async () => {
  const rows = ["a", "b"].map((executionId) => rowForTest({ executionId, recoveries: 2 }));
  const { recovery, queries, released, logger, left, state, engine, loaded } = recoveryOf(rows);
  state.failure = new Error("no journal");
  const now = vi.spyOn(performance, "now").mockReturnValue(1000);
  onTestFinished(() => now.mockRestore());
  expect(await recovery.loadNow("a")).toBe("failed");
  expect(released).toEqual([{ executionId: "a", token: "key.a" }]);
  expect(logger.of("error")).toEqual([
    {
      ...{
        level: "error",
        msg: "failed to recover an abandoned execution",
        err: expect.objectContaining({ message: "no journal" }),
      },
      ...{ workflowId: "nap", executionId: "a", userId: "ada" },
    },
  ]);
  const asked = queries.length;
  expect(await recovery.loadNow("a")).toBe("failed");
  expect(queries).toHaveLength(asked);
  expect(engine.waiters.has("a")).toBe(false);
  // The next suspect need not wait for it.
  state.failure = undefined;
  await recovery.poll();
  expect(loaded).toEqual(["workflow b"]);
  expect(queries.slice(asked)).toMatchObject([{ except: ["a"] }, { except: ["a"], suspects: true }]);
  left.push(rowForTest({ executionId: "a" }));
  now.mockReturnValue(60_999);
  await recovery.poll();
  expect(loaded).toEqual(["workflow b"]);
  now.mockReturnValue(61_000);
  await recovery.poll();
  expect(loaded).toEqual(["workflow b", "workflow a"]);
});

test("trouble of the storage ends the poll without a line for each execution", async () => {
  const rows = Array.from({ length: 4 }, (_, index) => rowForTest({ executionId: `e${index}` }));
  const { recovery, queries, logger, state, released } = recoveryOf(rows, { maxRunning: 2 });
  state.failure = new StoreUnavailableError({ cause: new Error("full") });
  await recovery.poll();
  expect(queries).toMatchObject([{ limit: 2, suspects: false }]);
  expect(released).toHaveLength(2);
  expect(logger.of("error").map(({ msg }) => msg)).toEqual([
    "the storage is in trouble: runs wait and starts are refused until it is over",
  ]);
  state.failure = undefined;
  await recovery.poll();
  expect(queries).toMatchObject([{}, { except: [] }, { except: [] }, { suspects: true }]);
});

test("a round that fails is one line, and none when the storage is in trouble", async () => {
  let failure: Error = new Error("no");
  const { recovery, logger } = recoveryOf([], {
    operations: { claimAbandoned: () => Promise.reject(failure) },
  });
  recovery.look();
  await recovery.round;
  expect(logger.lines).toEqual([
    {
      ...{ level: "warn", msg: "failed to poll for abandoned executions; trying again later" },
      err: expect.objectContaining({ message: "no" }),
    },
  ]);
  failure = new StoreUnavailableError({ cause: new Error("full") });
  recovery.look();
  await recovery.round;
  expect(logger.messages).toHaveLength(2);
  expect(logger.messages[1]).toMatch("the storage is in trouble");
  await recovery.stopPolling();
  recovery.look();
  recovery.roomFreed();
  expect(recovery.round).toBeUndefined();
});

test("a look during a round leads to one more round", async () => {
  const { recovery, queries } = recoveryOf([]);
  recovery.look();
  recovery.look();
  recovery.look();
  await expect.poll(() => recovery.round).toBeUndefined();
  expect(queries.filter(({ suspects }) => !suspects)).toHaveLength(2);
});

test("slots are kept while a round looks for executions that wait in the store", async () => {
  const { recovery, engine } = recoveryOf([]);
  recovery.roomFreed();
  recovery.roomFreed();
  expect(engine.room).toBe(0);
  await expect.poll(() => recovery.round).toBeUndefined();
  expect(engine.room).toBe(10);
});

test("the start loads a batch of each, polls on its period, and a stop leaves no timer behind", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const rows = Array.from({ length: 3 }, (_, index) => rowForTest({ executionId: `e${index}` }));
  const { recovery, queries, loaded } = recoveryOf(rows, { maxRunning: 2 });
  const timers = vi.getTimerCount();
  await recovery.start();
  expect(loaded).toEqual(["workflow e0", "workflow e1"]);
  // There may be more: the next round does not wait for its period.
  await expect.poll(() => recovery.round).toBeUndefined();
  expect(loaded).toHaveLength(3);
  const before = queries.length;
  vi.advanceTimersByTime(59_999);
  expect(queries).toHaveLength(before);
  vi.advanceTimersByTime(1);
  await expect.poll(() => recovery.round).toBeUndefined();
  expect(queries).toHaveLength(before + 2);
  await recovery.stop();
  expect(vi.getTimerCount()).toBe(timers);
});

test("a start that finds nothing more waits for its period; one that was stopped meanwhile sets no timer", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { recovery, queries } = recoveryOf([rowForTest()]);
  await recovery.start();
  expect([recovery.round, queries.length]).toEqual([undefined, 2]);
  const stopped = recoveryOf([]);
  const timers = vi.getTimerCount();
  const starting = stopped.recovery.start();
  await stopped.recovery.stopPolling();
  await starting;
  expect(vi.getTimerCount()).toBe(timers);
});

test("a suspect that has settled at once is followed by the next in the same poll", async () => {
  const rows = ["a", "b"].map((executionId) => rowForTest({ executionId, recoveries: 9 }));
  const { recovery, queries, engine } = recoveryOf(rows);
  vi.spyOn(engine.workflowKind, "endCrashLoop").mockResolvedValue(true);
  await recovery.poll();
  // Both were ended, so neither runs: two suspects, and a third look that finds none.
  expect(queries.map(({ suspects }) => suspects)).toEqual([false, true, true, true]);
});

test("the end of the lease stops every driver and takes another name, with one line", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const clusterChannel = {
    lease: 1,
    clockOffset: 0,
    listen: () => () => undefined,
    askToStop: () => undefined,
  };
  const beat = vi.fn<Store["heartbeat"]>(async () => undefined);
  const now = vi.spyOn(performance, "now").mockReturnValue(1000);
  onTestFinished(() => now.mockRestore());
  const { recovery, engine, logger } = recoveryOf([], { operations: { clusterChannel, heartbeat: beat } });
  await recovery.announce();
  const { owner } = engine.claims;
  expect(beat.mock.calls).toEqual([[{ owner, lease: 30_000, about: expect.stringContaining("pid") }]]);
  const stops: unknown[] = [];
  const driver = { stop: (...reason: unknown[]) => void stops.push(reason) };
  now.mockReturnValue(31_000);
  vi.advanceTimersByTime(60_000);
  expect([engine.claims.owner, stops]).toEqual([owner, []]);
  await expect.poll(() => beat).toHaveBeenCalledTimes(2);
  now.mockReturnValue(61_001);
  vi.spyOn(engine.drivers, "values").mockReturnValueOnce([driver, driver] as never);
  vi.advanceTimersByTime(60_000);
  expect(engine.claims.owner).not.toBe(owner);
  expect(stops).toEqual(
    Array(2).fill([{ kind: "elsewhere" }, new Error("The lease of this process has ended")]),
  );
  expect(logger.of("warn").at(-1)).toMatchObject({
    ...{ running: 2, msg: "the lease of this process has ended: it stops what it ran" },
  });
});

test("one that is polled for waits for a slot; one that was put back ends the poll and is not recovered", async () => {
  const rows = ["a", "b", "c"].map((executionId) => rowForTest({ executionId }));
  const { recovery, queries, loaded, engine } = recoveryOf(rows, { maxRunning: 2 });
  const recovered = vi.spyOn(engine.workflowKind, "recovered");
  const run = vi.spyOn(engine.admission, "runWhenFree").mockImplementation(async () => {
    engine.admission.hasUnclaimedBacklog = true;
    return false;
  });
  await recovery.poll();
  const waiting = (executionId: string) => [
    {
      ...{ executionId, kind: engine.workflowKind, user: "ada" },
      claim: { owner: engine.claims.owner, token: `key.${executionId}` },
    },
  ];
  expect(run.mock.calls).toEqual([waiting("a"), waiting("b")]);
  expect([loaded, recovered.mock.calls, queries.filter(({ suspects }) => !suspects).length]).toEqual([
    [],
    [],
    1,
  ]);
  run.mockResolvedValue(true);
  engine.admission.hasUnclaimedBacklog = false;
  await recovery.poll();
  expect(recovered.mock.calls.length).toBe(1);
  // A due timer does not wait for a slot.
  const due = recoveryOf([rowForTest({ executionId: "d" }), rowForTest({ executionId: "s", recoveries: 3 })]);
  const queued = vi.spyOn(due.engine.admission, "runWhenFree");
  await due.recovery.loadNow("d");
  await due.recovery.poll();
  expect([due.loaded, queued.mock.calls]).toEqual([["workflow d", "workflow s"], []]);
});

test("a thousand executions that cannot be loaded are remembered; with more of them the poll ends", async () => {
  const rows = Array.from({ length: 1150 }, (_, index) => rowForTest({ executionId: `e${index}` }));
  const { recovery, queries, state } = recoveryOf(rows, { maxRunning: 2000 });
  state.failure = new Error("no journal");
  await recovery.poll();
  // Eleven batches of a hundred: the last of them finds no room.
  const usualQueries = queries.filter(({ suspects }) => !suspects);
  expect(usualQueries.map(({ except }) => except?.length)).toEqual([
    ...Array.from({ length: 10 }, (_, index) => 100 * index),
    1000,
  ]);
  expect(queries.some(({ suspects }) => suspects)).toBe(false);
});
