// One process beside others on a store: its reads after their hints, and its polls without hints.
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { inTime } from "../../../test/support/in-time.ts";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import type { AndanteOptions } from "../../andante/andante-options.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { StoreUnavailableError } from "../../errors/index.ts";
import type { ClusterListener } from "../../store/cluster-channel.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { commitOf, execution } from "../../store-cases/store-cases.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { fingerprintOf } from "../../workflow/outline.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";

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
