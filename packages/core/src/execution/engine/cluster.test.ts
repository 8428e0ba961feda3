// One process beside others on a store: its reads after their hints, and its polls without hints.
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { inTime } from "../../../test/support/in-time.ts";
import { plainKind } from "../../../test/support/plain-kind.ts";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import type { AndanteOptions } from "../../andante/andante-options.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { StoreUnavailableError } from "../../errors/index.ts";
import { encodeEvent } from "../../journal/codec.ts";
import type { ClusterListener } from "../../store/cluster-channel.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import type { ExecutionHead, Store } from "../../store/store.ts";
import { commitOf, execution } from "../../store-cases/store-cases.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { fingerprintOf } from "../../workflow/outline.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Follower } from "../stream/feed.ts";

const store = memoryStore();
await inTime(store.open(), "the store");
afterAll(() => store.close());

let flows = 0;
const flow = () => createWorkflow({ id: `beside-${++flows}`, input: z.unknown() });

/** A node with its hints, its reads of the store and its log lines. `state.failure`: thrown by its looks for work. */
async function startNode(workflow: WorkflowDefinition, options: Partial<AndanteOptions> = {}) {
  const heard = Promise.withResolvers<ClusterListener>();
  const heads: (readonly string[])[] = [];
  const asked = { heads, states: 0, rounds: 0 };
  const logger = new RecordingLogger();
  const state: { failure?: Error } = {};
  const andante = createAndante({
    workflows: { [workflow.id]: workflow },
    logger,
    store: wrapStore(store, {
      heads: (ids) => {
        heads.push(ids);
        return store.heads(ids);
      },
      state: (id) => {
        asked.states++;
        return store.state(id);
      },
      claimAbandoned: (query) => {
        asked.rounds++;
        return state.failure === undefined ? store.claimAbandoned(query) : Promise.reject(state.failure);
      },
      clusterChannel: {
        lease: 60_000,
        clockOffset: 0,
        listen: (listener) => {
          heard.resolve(listener);
          return () => undefined;
        },
        askToStop: () => undefined,
      },
    }),
    ...options,
  });
  onTestFinished(() => andante.close({ grace: 0 }));
  await inTime(andante.ready(), "the start");
  return { andante, asked, logger, state, hear: await inTime(heard.promise, "the listener") };
}

/** From now on the timers of intervals fire only when the test advances the time. */
function holdIntervals(): void {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** The store has replied to every request. */
async function replied(): Promise<void> {
  await inTime(store.heads([]), "a reply");
  for (let count = 0; count < 3; count++) await turn();
}

test("it reads the heads of changed executions once, a thousand at a time", async () => {
  const { andante, asked, hear } = await startNode(flow());
  const unfollow = andante.live.changes.follow({
    receive: () => undefined,
    stop: () => undefined,
  });
  hear.wrote(new Set(Array.from({ length: 1001 }, (_, index) => `e${index}`)));
  await replied();
  await replied();
  expect(asked.heads.map(({ length }) => length)).toEqual([1000, 1]);
  hear.wrote(new Set(["another"]));
  await replied();
  expect(asked.heads.slice(2)).toEqual([["another"]]);
  unfollow();
  hear.wrote(new Set(["nobody's concern"]));
  await replied();
  expect(asked.heads).toHaveLength(3);
});

test("from time to time it reads the heads of its own executions, and no others", async () => {
  holdIntervals();
  const held = Promise.withResolvers<void>();
  const workflow = flow().andThen({ id: "held", execute: () => held.promise });
  const { andante, asked } = await startNode(workflow);
  vi.advanceTimersByTime(2000);
  await replied();
  expect(asked.heads).toEqual([]);
  const { executionId, result } = await andante.start(workflow.id, 1);
  vi.advanceTimersByTime(2000);
  await replied();
  expect(new Set(asked.heads.flat())).toEqual(new Set([executionId]));
  held.resolve();
  expect(await inTime(result(), "the result")).toMatchObject({ status: "completed" });
});

test("without tracing it learns of the commits of other nodes as well", async () => {
  holdIntervals();
  const workflow = flow().andThen({
    id: "gate",
    execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
  });
  const { andante, hear } = await startNode(workflow, { tracing: false });
  const made = execution({
    workflowId: workflow.id,
    input: "{}",
    claim: { owner: "another", token: "token" },
  });
  const { executionId } = made;
  await store.create(made);
  const { result } = await andante.start(workflow.id, {}, { executionId });
  const settled = inTime(result(), "the result");
  await replied();
  await store.commit({
    ...commitOf(executionId),
    end: { status: "completed", result: '"there"', error: null },
  });
  hear.wrote(new Set([executionId]));
  expect(await settled).toMatchObject({ status: "completed", result: "there" });
});

test("the wait for an execution that sleeps makes no reads until it has settled", async () => {
  holdIntervals();
  const workflow = flow().andSleep({ id: "nap", duration: "1h" });
  const { andante, asked, hear } = await startNode(workflow);
  const { executionId, result } = await andante.start(workflow.id, 1);
  const settled = inTime(result(), "the result");
  await inTime(andante.settled(), "the sleep");
  const { states } = asked;
  hear.wrote(new Set([executionId]));
  await replied();
  expect(asked).toMatchObject({ heads: [[executionId]], states });
  await andante.cancel(workflow.id, executionId);
  expect(await settled).toMatchObject({ status: "cancelled" });
});

test("executions that began with its definition and were parked under another one run again; others stay parked", async () => {
  holdIntervals();
  const workflow = flow().andThen({ id: "say", execute: () => "said" });
  const { andante, asked, hear } = await startNode(workflow);
  const own = fingerprintOf(workflow).definition;
  await store.define({ definition: "another", outline: "[]" });
  const [ours, theirs] = await Promise.all(
    [own, "another"].map(async (definition) => {
      const made = execution({ workflowId: workflow.id, definition });
      await store.create(made);
      const { executionId, claim } = made;
      await store.park({ executionId, token: claim.token, reason: "it changed", definition: "older" });
      return executionId;
    }),
  );
  // Not at every look for work.
  for (let count = 1; count < 10; count++) {
    const { rounds } = asked;
    hear.offered();
    await expect.poll(() => asked.rounds).toBeGreaterThan(rounds);
    await replied();
  }
  expect(await andante.state(workflow.id, ours ?? "")).toHaveProperty("parked");
  hear.offered();
  await expect
    .poll(() => andante.state(workflow.id, ours ?? ""))
    .toMatchObject({ status: "completed", result: "said" });
  expect(await andante.state(workflow.id, theirs ?? "")).toMatchObject({
    status: "running",
    parked: { reason: "it changed" },
  });
});

test("a reader who has read everything of an execution that runs elsewhere is not shown its last event again", async () => {
  holdIntervals();
  const workflow = flow().andThen({ id: "gate", execute: () => 1 });
  const { andante, asked, hear } = await startNode(workflow);
  const made = execution({ workflowId: workflow.id, claim: { owner: "another", token: "token" } });
  const { executionId } = made;
  await store.create(made);
  const stream = await andante.attach(workflow.id, executionId, 0);
  const types: string[] = [];
  void (async () => {
    for await (const { type } of stream?.events ?? []) types.push(type);
  })();
  await expect.poll(() => types).toEqual(["workflow-start"]);
  hear.wrote(new Set([executionId]));
  await expect.poll(() => asked.heads.flat()).toContain(executionId);
  await replied();
  await replied();
  expect(types).toEqual(["workflow-start"]);
});

test("a look for abandoned executions that fails is logged, unless the storage is in trouble, and the next one works", async () => {
  holdIntervals();
  const { asked, hear, logger, state } = await startNode(flow());
  const look = async () => {
    const { rounds } = asked;
    hear.offered();
    await expect.poll(() => asked.rounds).toBeGreaterThan(rounds);
    await replied();
  };
  const msg = "failed to poll for abandoned executions; trying again later";
  const told = () => logger.lines.filter((line) => line.msg === msg);
  state.failure = new Error("no");
  await look();
  expect(told()).toMatchObject([{ level: "warn", err: { message: "no" } }]);
  state.failure = new StoreUnavailableError({ cause: new Error("the disk is full") });
  await look();
  delete state.failure;
  await look();
  expect(told()).toHaveLength(1);
});

const headOf = (fields: Partial<ExecutionHead> = {}): ExecutionHead => ({
  ...{
    executionId: "e1",
    kind: "workflow",
    workflowId: "nap",
    agentId: null,
    userId: null,
    conversationId: null,
  },
  ...{ status: "running", sequence: 7, paused: false, parked: false, owner: null },
  ...fields,
});

const begun = encodeEvent({
  ...{ type: "workflow-start", timestamp: 1, input: undefined, traceparent: undefined, replayOf: undefined },
});

/** A member of a cluster whose store has these heads, and its reads. */
function memberOf(heads: readonly ExecutionHead[], tracing = false) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const reads: (readonly string[])[] = [];
  const calls: string[] = [];
  const heard: ClusterListener[] = [];
  const reply = vi.fn<Store["heads"]>(async (ids) =>
    heads.filter(({ executionId }) => ids.includes(executionId)),
  );
  const nap = createWorkflow({ id: "nap", input: z.unknown() }).andThen({
    ...{ id: "one", execute: () => new Promise(() => undefined) },
  });
  const definition = fingerprintOf(nap).definition;
  const made = engineForTest(
    {
      heads: (ids) => {
        reads.push(ids);
        return reply(ids);
      },
      list: async () => {
        calls.push("list");
        return [];
      },
      state: async (executionId) => ({
        ...{ execution: rowForTest({ executionId, sequence: 1, definition }), suspensions: [], timers: [] },
        usage: null,
      }),
      events: async () => [{ ...begun, sequence: 1 }],
      commit: () => new Promise(() => undefined),
      release: async () => undefined,
      clusterChannel: {
        ...{ lease: 1000, clockOffset: 0, askToStop: () => undefined },
        listen: (listener) => {
          heard.push(listener);
          return () => void calls.push("left");
        },
      },
    },
    { workflows: [nap], kinds: [{ ...plainKind, name: "turn", settlesAsleep: true }], tracing },
  );
  const { engine } = made;
  const { cluster } = engine;
  const [one, two] = ["one", "two"].map((name) => ({ look: () => void calls.push(`${name} looks`) }));
  cluster?.start(
    { stopTurn: (executionId) => void calls.push(`stop ${executionId}`) },
    [one, two].filter((finder) => finder !== undefined),
  );
  onTestFinished(() => cluster?.stop());
  const [hear] = heard;
  if (hear === undefined || cluster === undefined) throw new Error("it does not listen");
  const load = async (executionId = "e1", token = "t") => {
    await engine.load({
      executionId,
      kind: engine.workflowKind,
      claim: { owner: engine.claims.owner, token },
    });
    const driver = await engine.driver(executionId);
    if (driver === undefined) throw new Error("it was not loaded");
    return { stop: vi.spyOn(driver, "stop"), look: vi.spyOn(driver, "look"), driver };
  };
  const wrote = async (...ids: readonly string[]) => {
    hear.wrote(new Set(ids));
    for (let count = 0; count < 3; count++) await turn();
  };
  return { ...made, reads, calls, hear, load, wrote, reply, cluster };
}

function followerOf(calls: unknown[]): Follower {
  return {
    ...{ receive: () => undefined, receiveLive: () => undefined, stop: () => void calls.push("closed") },
    reached: (sequence, ended) => void calls.push([sequence, ended]),
  };
}

const isSettled = async (settled: Promise<unknown>): Promise<unknown> => {
  return Promise.race([settled, turn("waits")]);
};

test("hints of others count where the execution runs here or a caller waits for it or follows it", async () => {
  const { wrote, reads, engine, load } = memberOf([]);
  await wrote("e1");
  expect(reads).toEqual([]);
  await load("here");
  engine.waiters.wait("waited");
  engine.feed.follow("followed", followerOf([]));
  for (const id of ["here", "waited", "followed", "other"]) await wrote(id);
  expect(reads).toEqual([["here"], ["waited"], ["followed"]]);
});

test("every two seconds, and where hints were lost, all that concerns it is read", async () => {
  const { reads, engine, load, hear, cluster, calls } = memberOf([headOf({ executionId: "here" })]);
  await load("here");
  engine.waiters.wait("waited");
  engine.feed.follow("followed", followerOf([]));
  await vi.advanceTimersByTimeAsync(1999);
  expect(reads).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(reads).toEqual([["here", "waited", "followed"]]);
  await turn();
  // The other two are gone.
  hear.wrote(undefined);
  expect(reads.slice(1)).toEqual([["here"]]);
  await turn();
  cluster.stop();
  await vi.advanceTimersByTimeAsync(4000);
  hear.wrote(new Set(["here"]));
  await turn();
  expect([reads.length, calls]).toEqual([2, ["left"]]);
});

test("offers and requests to stop are passed on", () => {
  const { hear, calls } = memberOf([]);
  hear.offered();
  hear.stop("e7");
  expect(calls).toEqual(["one looks", "two looks", "stop e7"]);
});

test("while the changes of all executions are followed, every head is read and published", async () => {
  const heads = [headOf(), headOf({ executionId: "e2", status: "completed" })];
  const { wrote, engine, reads } = memberOf(heads);
  const published = vi.spyOn(engine.changes, "publishHead");
  await wrote("e1");
  const unfollow = engine.changes.follow({ receive: () => undefined, stop: () => undefined });
  await wrote("e1", "e2");
  unfollow();
  engine.waiters.wait("e1");
  await wrote("e1");
  expect(reads).toEqual([["e1", "e2"], ["e1"]]);
  expect(published.mock.calls).toEqual(heads.map((head) => [head, 1000]));
});

test("of a kind without addresses only heads that wait are published", async () => {
  const turns = [headOf({ kind: "turn" }), headOf({ executionId: "e2", kind: "turn", status: "suspended" })];
  const { wrote, engine } = memberOf(turns);
  const published = vi.spyOn(engine.changes, "publishHead");
  engine.changes.follow({ receive: () => undefined, stop: () => undefined });
  await wrote("e1", "e2");
  expect(published.mock.calls).toEqual([[turns[1], 1000]]);
});

test("callers of an execution that only sleeps get a result where its kind has one", async () => {
  const { wrote, engine } = memberOf([headOf(), headOf({ executionId: "e2", kind: "turn" })]);
  const [workflow, asleep] = [engine.waiters.wait("e1"), engine.waiters.wait("e2")];
  await wrote("e1", "e2");
  expect(await isSettled(workflow.settled)).toBe("waits");
  expect(await isSettled(asleep.settled)).toEqual({ kind: "elsewhere" });
});

test("while the spans of all executions are followed, those of kinds with spans are shown", async () => {
  const heads = [headOf(), headOf({ executionId: "e2", kind: "turn" })];
  const { wrote, engine, reads, hear, calls } = memberOf(heads, true);
  const elsewhere = engine.observation.tracing?.elsewhere;
  if (elsewhere === undefined) throw new Error("spans are not traced");
  const reached = vi.spyOn(elsewhere, "reached").mockImplementation(() => undefined);
  vi.spyOn(elsewhere, "keys").mockReturnValue(["shown"]);
  await wrote("e1", "e2");
  hear.wrote(undefined);
  expect([reads, calls]).toEqual([[], []]);
  const unfollow = elsewhere.follow();
  await wrote("e1", "e2");
  expect(reads).toEqual([["e1", "e2"]]);
  expect(reached.mock.calls).toEqual([[heads[0]]]);
  expect(calls).toEqual([]);
  hear.wrote(undefined);
  for (let count = 0; count < 3; count++) await turn();
  expect(reads.slice(1)).toEqual([["shown"]]);
  expect(calls).toEqual(["list", "list"]);
  unfollow();
});

test.each<[Partial<ExecutionHead>, "settles" | "waits", boolean]>([
  [{}, "waits", false],
  [{ owner: "another" }, "waits", false],
  [{ paused: true }, "waits", false],
  [{ parked: true }, "settles", false],
  [{ status: "suspended" }, "settles", false],
  [{ status: "suspended", owner: "another" }, "waits", false],
  [{ status: "suspended", owner: "another", parked: true }, "waits", false],
  [{ status: "suspended", owner: "another", paused: true }, "settles", false],
  [{ status: "completed" }, "settles", true],
  [{ status: "error" }, "settles", true],
  [{ status: "cancelled" }, "settles", true],
])("a head of %o: its callers and followers", async (fields, expected, ended) => {
  const { wrote, engine } = memberOf([headOf(fields)]);
  const seen: unknown[] = [];
  const { settled } = engine.waiters.wait("e1");
  engine.feed.follow("e1", followerOf(seen));
  await wrote("e1");
  expect(await isSettled(settled)).toEqual(expected === "settles" ? { kind: "elsewhere" } : "waits");
  expect(seen).toEqual([[7, ended]]);
});

test.each<[string, number, "stops" | "looks" | "goes on"]>([
  ["another process", 9, "stops"],
  ["another process", 1, "stops"],
  ["this process", 1, "goes on"],
  ["this process", 2, "looks"],
  ["none", 2, "looks"],
])("a driver whose execution belongs to %s at event %s", async (owner, sequence, expected) => {
  const { wrote, engine, load, reply } = memberOf([]);
  const owners = new Map([
    ["this process", engine.claims.owner],
    ["none", null],
  ]);
  const by = owners.get(owner);
  reply.mockResolvedValue([headOf({ sequence, status: "suspended", owner: by === undefined ? owner : by })]);
  const { stop, look } = await load();
  const { settled } = engine.waiters.wait("e1");
  await wrote("e1");
  expect([stop.mock.calls, look.mock.calls]).toEqual([
    expected === "stops"
      ? [[{ kind: "elsewhere" }, new Error("The execution was taken over by another process")]]
      : [],
    expected === "looks" ? [[]] : [],
  ]);
  // Its own driver notifies them.
  if (expected !== "stops") expect(await isSettled(settled)).toBe("waits");
});

test("one that was deleted stops here, and its callers and followers are notified", async () => {
  const { wrote, engine, load } = memberOf([]);
  const seen: unknown[] = [];
  const { stop } = await load();
  const { settled } = engine.waiters.wait("e1");
  engine.feed.follow("e1", followerOf(seen));
  await wrote("e1");
  expect(stop.mock.calls).toEqual([[{ kind: "elsewhere" }, new Error("The execution was deleted")]]);
  expect([await isSettled(settled), seen]).toEqual([{ kind: "elsewhere" }, ["closed"]]);
  // Also where none runs here.
  const other = engine.waiters.wait("e2");
  await wrote("e2");
  expect(await isSettled(other.settled)).toEqual({ kind: "elsewhere" });
});

test.each([[[]], [[headOf({ owner: "another" })]]])(
  "heads that were read before a driver took the execution do not concern it (%#)",
  async (heads) => {
    const { load, reply, engine, hear } = memberOf([]);
    const answer = Promise.withResolvers<readonly ExecutionHead[]>();
    reply.mockImplementationOnce(async () => [...(await answer.promise)]);
    engine.feed.follow("e1", followerOf([]));
    hear.wrote(new Set(["e1"]));
    const { stop, look } = await load();
    answer.resolve(heads);
    for (let count = 0; count < 3; count++) await turn();
    expect([stop.mock.calls, look.mock.calls]).toEqual([[], []]);
  },
);

test("one that is being created is not gone", async () => {
  const { wrote, engine } = memberOf([]);
  vi.spyOn(engine, "isStarting").mockImplementation((id) => id === "e1");
  const { settled } = engine.waiters.wait("e1");
  await wrote("e1");
  expect(await isSettled(settled)).toBe("waits");
});

test("hints that come while heads are read are read afterwards; a read that fails is trouble of the storage", async () => {
  const { engine, reply, reads, hear, wrote, logger, cluster } = memberOf([
    headOf(),
    headOf({ executionId: "e2" }),
  ]);
  for (const id of ["e1", "e2"]) engine.waiters.wait(id);
  const answer = Promise.withResolvers<ExecutionHead[]>();
  reply.mockReturnValueOnce(answer.promise);
  await wrote("e1");
  await wrote("e2");
  expect(reads).toEqual([["e1"]]);
  answer.resolve([headOf()]);
  for (let count = 0; count < 3; count++) await turn();
  expect(reads).toEqual([["e1"], ["e2"]]);
  reply.mockRejectedValueOnce(new StoreUnavailableError({ cause: new Error("full") }));
  await wrote("e1");
  expect(logger.messages).toEqual([expect.stringContaining("the storage is in trouble")]);
  await wrote("e2");
  expect(reads).toHaveLength(4);
  // After a stop nothing more is read.
  const last = Promise.withResolvers<ExecutionHead[]>();
  reply.mockReturnValueOnce(last.promise);
  await wrote("e1");
  hear.wrote(new Set(["e2"]));
  cluster.stop();
  last.resolve([headOf()]);
  for (let count = 0; count < 3; count++) await turn();
  expect(reads).toHaveLength(5);
});
