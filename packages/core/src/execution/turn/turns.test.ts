// Turns of chats as executions: how they begin, run and end, in this process and beside others.
import { setImmediate as turn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import type { RunningTurn, TurnEnd, TurnToBegin } from "../../agent/turn/turn-host.ts";
import { StoreRefusedError, StoreUnavailableError } from "../../errors/index.ts";
import type { JournalEvent } from "../../journal/events.ts";
import type {
  Commit,
  EndTurn,
  ExecutionHead,
  ExecutionRow,
  Store,
  StoredExecution,
  Suspension,
} from "../../store/store.ts";
import { beginTurn } from "./begin-turn.ts";
import { endForgottenTurn } from "./end-forgotten-turn.ts";
import { otherTurns } from "./other-turns.ts";
import { turnExecutions } from "./turn-executions.ts";
import { TurnKind } from "./turn-kind.ts";

const input = JSON.stringify({ agentId: "bot", messageId: "m1", replyTo: "m1" });
const message: TurnToBegin["message"] = { kind: "unchanged", messageId: "m1" } as never;
const toBegin: TurnToBegin = {
  ...{
    executionId: "e1",
    agentId: "bot",
    conversationId: "c1",
    userId: "ada",
    input,
    context: '{"plan":"pro"}',
  },
  ...{ message, before: 4 },
};
const reply: EndTurn["reply"] = {
  ...{ conversationId: "c1", userId: "ada", replyTo: "m1", at: 5 },
  message: { messageId: "m2", role: "assistant", parts: "[]" } as never,
};
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };

interface Surroundings {
  readonly operations?: Partial<Store>;
  readonly agentIds?: readonly string[];
  readonly usage?: typeof usage | null;
  readonly open?: readonly Suspension[];
  readonly run?: (turn: RunningTurn) => Promise<void>;
}

/** An engine with turns of one agent, and the calls of its store and its host. */
function turnsOf(surroundings: Surroundings = {}) {
  const { operations = {}, agentIds = ["bot"], run = async () => undefined } = surroundings;
  const calls: unknown[] = [];
  const ended = ({ after = 0, events, following }: Commit) => ({
    ...({ kind: "ok", sequence: after + events.length + following.length, idle: false } as const),
  });
  const made = engineForTest({
    beginTurn: async (begin) => {
      calls.push({ begin });
      return { kind: "begun" };
    },
    commit: async (commit) => {
      calls.push({ commit });
      return ended(commit);
    },
    endTurn: async (end) => {
      calls.push({ end });
      return ended(end.commit);
    },
    release: async (release) => void calls.push({ release }),
    ...operations,
  });
  const { engine } = made;
  const turns: RunningTurn[] = [];
  const kind = new TurnKind(
    engine.store,
    {
      agentIds,
      look: async () => undefined,
      run: async (running) => {
        turns.push(running);
        await run(running);
      },
      endingOf: async (executionId) => {
        calls.push({ endingOf: executionId });
        return { reply, usage: surroundings.usage ?? null, agentId: "a", open: surroundings.open ?? [] };
      },
      expire: async (call) => {
        calls.push({ expire: call });
        return true;
      },
    },
    engine.waiters,
    (change, deadline) => calls.push({ change, deadline }),
  );
  return { ...made, calls, kind, turns };
}

const endOf = (running: RunningTurn | undefined) => running && inTime(running.settled, "the end of the turn");

test("a turn is an execution of one step that no route reaches", async () => {
  const { kind } = turnsOf();
  const { name, noun, takesSlot, hasSpans, isAddressable, settlesAsleep, keptFor, park, claimable } = kind;
  expect({ name, noun, takesSlot, hasSpans, isAddressable, settlesAsleep, keptFor, park, claimable }).toEqual(
    {
      ...{ name: "turn", noun: "reply", takesSlot: false, hasSpans: false, isAddressable: false },
      settlesAsleep: true,
      ...{ keptFor: 3_600_000, park: undefined, claimable: { workflowIds: [], agentIds: ["bot"] } },
    },
  );
  expect(turnsOf({ agentIds: [] }).kind.claimable).toBeUndefined();
  expect([kind.definition() === kind.workflow, kind.fits(), kind.agentIds]).toEqual([true, true, ["bot"]]);
  const { inputSchema, steps, ...rest } = kind.workflow;
  const none = { suspendSchema: undefined, resumeSchema: undefined, timeout: undefined };
  expect(rest).toEqual({ id: "", name: "", purpose: "", ...none, resultSchema: undefined });
  expect(steps).toEqual([
    {
      ...{ type: "andThen", id: "reply", name: "reply", purpose: "", ...none, execute: expect.any(Function) },
      ...{ inputSchema: undefined, outputSchema: undefined, retry: undefined },
    },
  ]);
  // A plain context has no recorder.
  const [step] = steps;
  if (step?.type !== "andThen") throw new Error("it has another step");
  await expect(Promise.resolve(step.execute({} as never))).rejects.toThrow("a turn has no body of its own");
});

test("every resume reports that the turn runs; its other events report nothing", () => {
  const { kind, calls } = turnsOf();
  const resumed: JournalEvent = {
    ...{ type: "workflow-resumed", sequence: 4, timestamp: 9, path: "reply#a1", stepIndex: 0 },
    ...{ suspensionId: "s1", resumeData: undefined, userId: undefined, byDeadline: true, expired: false },
  };
  const row = rowForTest({ workflowId: "", conversationId: "c1" });
  kind.publish(row, [resumed]);
  const ids = { executionId: "e1", workflowId: "", conversationId: "c1", userId: "ada" };
  const change = { ...ids, stepPath: undefined, status: "running", sequence: 0, timestamp: 9 };
  expect(calls).toEqual([{ change, deadline: undefined }]);
  const emitted: JournalEvent = {
    ...{ type: "emitted", sequence: 5, timestamp: 9, path: "reply", stepIndex: 0, stepType: "andThen" },
    ...{ name: "note", attempt: 1, data: undefined },
  };
  kind.publish(row, [emitted]);
  expect(calls).toHaveLength(1);
});

const waits: Suspension = {
  ...{ suspensionId: "s1", path: "reply#a1", stepIndex: 0, reason: "", data: null, suspendedAt: 7 },
  ...{ deadline: null, onDeadline: null },
};

test("it begins with one write, runs here, and ends together with the reply", async () => {
  const { engine, kind, calls, turns } = turnsOf();
  expect(await beginTurn(engine, kind, toBegin)).toEqual({ kind: "begun" });
  expect(calls[0]).toEqual({
    begin: {
      ...{ message, before: 4 },
      turn: {
        ...{ executionId: "e1", agentId: "bot", conversationId: "c1", userId: "ada", input },
        ...{ context: '{"plan":"pro"}', startAt: 1000 },
        claim: { owner: engine.claims.owner, token: expect.any(String) },
        events: [
          expect.objectContaining({ type: "workflow-start", timestamp: 1000 }),
          expect.objectContaining({ type: "step-start", path: "reply", value: input }),
        ],
      },
    },
  });
  await expect.poll(() => engine.has("e1")).toBe(false);
  expect(turns).toMatchObject([
    {
      ...{ executionId: "e1", input: JSON.parse(input), userId: "ada", conversationId: "c1" },
      ...{ context: new Map([["plan", "pro"]]), onlyRecorded: false },
    },
  ]);
  expect(turns[0]?.isInterrupted()).toBe(false);
  expect(await endOf(turns[0])).toBe("ended");
  expect(calls.slice(1)).toEqual([
    { endingOf: "e1" },
    {
      end: {
        commit: expect.objectContaining({
          executionId: "e1",
          end: expect.objectContaining({ status: "completed" }),
        }),
        reply,
      },
    },
  ]);
});

test("one whose reply waits for a person is suspended, and has no more work here", async () => {
  const { engine, kind, calls, turns } = turnsOf({ open: [waits] });
  await beginTurn(engine, kind, toBegin);
  await expect.poll(() => engine.has("e1")).toBe(false);
  expect(await endOf(turns[0])).toBe("ended");
  expect(calls.at(-1)).toMatchObject({
    end: { commit: { end: null, open: [waits], idle: { resumes: 0, event: null } }, reply },
  });
});

test.each([
  [null, null],
  [usage, usage],
])("the usage beside recorded calls is added to the last commit: %o", async (beside, expected) => {
  const { engine, kind, calls } = turnsOf({ usage: beside });
  await beginTurn(engine, kind, toBegin);
  await expect.poll(() => engine.has("e1")).toBe(false);
  const end = expected === null ? null : expect.objectContaining({ totalTokens: 3, calls: 1 });
  expect(calls.at(-1)).toEqual({ end: { reply, commit: expect.objectContaining({ usage: end }) } });
});

test.each(["has-reply", "foreign", "changed"] as const)(
  "one that does not begin (%s) is not run",
  async (kind) => {
    const { engine, kind: turns, calls } = turnsOf({ operations: { beginTurn: async () => ({ kind }) } });
    const freed = vi.spyOn(engine, "discard");
    expect(await beginTurn(engine, turns, toBegin)).toEqual({ kind });
    expect(freed).toHaveBeenCalledOnce();
    expect([engine.isStarting("e1"), engine.has("e1"), calls]).toEqual([false, false, []]);
  },
);

test("one whose first write fails is discarded, and the failure is reported to the storage watch", async () => {
  const error = new StoreUnavailableError({ cause: new Error("full") });
  const { engine, kind, logger } = turnsOf({ operations: { beginTurn: () => Promise.reject(error) } });
  await expect(beginTurn(engine, kind, toBegin)).rejects.toBe(error);
  expect([engine.isStarting("e1"), logger.messages.length]).toEqual([false, 1]);
});

test("a process that stops begins none; one that stops meanwhile leaves it to the next", async () => {
  const stopped = turnsOf();
  stopped.engine.stopIntake();
  await expect(beginTurn(stopped.engine, stopped.kind, toBegin)).rejects.toThrow("shut");
  expect(stopped.calls).toEqual([]);
  const stopping = turnsOf({
    operations: {
      beginTurn: async () => {
        stopping.engine.stopIntake();
        return { kind: "begun" };
      },
    },
  });
  await expect(beginTurn(stopping.engine, stopping.kind, toBegin)).rejects.toThrow("shut");
  await turn();
  expect(stopping.turns).toEqual([]);
  expect(stopping.calls).toEqual([
    { release: { executionId: "e1", token: expect.any(String), offer: true } },
  ]);
});

test("one that was recovered too often ends with its recorded calls, once", async () => {
  const { engine, kind, turns } = turnsOf();
  expect(await kind.endCrashLoop({ ...rowForTest(), trace: null })).toBe(false);
  await beginTurn(engine, kind, toBegin);
  await expect.poll(() => engine.has("e1")).toBe(false);
  await beginTurn(engine, kind, toBegin);
  await expect.poll(() => engine.has("e1")).toBe(false);
  expect(turns.map(({ onlyRecorded }) => onlyRecorded)).toEqual([true, false]);
});

test("a refused last write is repeated without the reply, so that the conversation is free", async () => {
  const ends: EndTurn[] = [];
  const refused = new StoreRefusedError({ operation: "endTurn" });
  const { engine, kind, turns, calls } = turnsOf({
    usage,
    operations: {
      endTurn: async (end) => {
        ends.push(end);
        if (ends.length === 1) throw refused;
        return { kind: "ok", sequence: 9, idle: false };
      },
    },
  });
  await beginTurn(engine, kind, toBegin);
  await expect.poll(() => turns).toHaveLength(1);
  expect(await endOf(turns[0])).toEqual({
    reason: expect.objectContaining({ code: "store-refused" }),
  });
  expect(ends.map((end) => end.reply)).toEqual([reply, { ...reply, message: null }]);
  expect(ends[1]?.commit).toMatchObject({ end: { status: "error" }, usage: { totalTokens: 3 } });
  expect(calls.filter((call) => Object(call).release !== undefined)).toEqual([]);
});

test.each<[string, Error, number]>([
  ["is refused twice", new StoreRefusedError({ operation: "endTurn" }), 2],
  ["fails", new Error("gone"), 1],
])("a turn whose last write %s is given back for the next process", async (_, error, writes) => {
  let tries = 0;
  const { engine, kind, turns, calls } = turnsOf({
    operations: {
      endTurn: () => {
        tries++;
        return Promise.reject(error);
      },
    },
  });
  await beginTurn(engine, kind, toBegin);
  await expect.poll(() => engine.has("e1")).toBe(false);
  expect(await endOf(turns[0])).toBe("failed");
  expect([tries, calls.filter((call) => Object(call).release !== undefined)]).toEqual([
    writes,
    [{ release: { executionId: "e1", token: expect.any(String) } }],
  ]);
});

test.each<[Parameters<ReturnType<typeof turnsOf>["engine"]["waiters"]["settle"]>[1], TurnEnd]>([
  [{ kind: "elsewhere" }, "elsewhere"],
  [{ kind: "stopped" }, "stopped"],
  [{ kind: "suspended", suspension: {} as never }, "elsewhere"],
  [{ kind: "ended", status: "completed", endAt: 1, result: undefined, error: undefined }, "ended"],
  [
    { kind: "ended", status: "error", endAt: 1, result: undefined, error: { name: "Error", message: "no" } },
    { reason: expect.objectContaining({ message: "no" }) },
  ],
])("an end of %o", async (settlement, expected) => {
  const held = Promise.withResolvers<void>();
  const { engine, kind, turns } = turnsOf({ run: () => held.promise });
  await beginTurn(engine, kind, toBegin);
  await expect.poll(() => turns).toHaveLength(1);
  engine.waiters.settle("e1", settlement);
  expect(await endOf(turns[0])).toEqual(expected);
  held.resolve();
});

test("commits before the end, releases and reads pass through to the store", async () => {
  const events = vi.fn<Store["events"]>(async () => []);
  const { kind, calls } = turnsOf({ operations: { events } });
  await kind.store.release({ executionId: "e1", token: "t" });
  await kind.store.events({ executionId: "e1", after: 3, limit: 9 });
  expect([calls, events.mock.calls]).toEqual([
    [{ release: { executionId: "e1", token: "t" } }],
    [[{ executionId: "e1", after: 3, limit: 9 }]],
  ]);
});

// ---- turns of agents that are not registered any more

const old: Partial<ExecutionRow> = {
  ...{
    kind: "turn",
    workflowId: "",
    agentId: "gone",
    conversationId: "c1",
    input,
    sequence: 2,
    startAt: -899_001,
  },
};

function forgotten(fields: Partial<ExecutionRow> = {}, operations: Partial<Store> = {}) {
  const execution = rowForTest({ ...old, ...fields });
  const state: StoredExecution = { execution, suspensions: [], timers: [], usage: null };
  const queries: unknown[] = [];
  const made = turnsOf({
    operations: {
      state: async () => state,
      events: async () => [],
      claimAbandoned: async ({ key, owner, ...query }) => {
        queries.push(query);
        return [{ row: execution, token: "t9" }];
      },
      ...operations,
    },
  });
  const end = () => endForgottenTurn(made.engine, ["bot"], "e1");
  return { ...made, queries, end };
}

test("a turn of an unknown agent is ended in error once other processes have had the time to continue it", async () => {
  const { end, queries, calls, logger, engine } = forgotten();
  const { settled } = engine.waiters.wait("e1");
  expect(await end()).toBe(true);
  expect(queries).toEqual([
    {
      ...{ workflowIds: [], agentIds: ["gone"], limit: 1, only: "e1", suspects: false },
      suspectAfter: Number.MAX_SAFE_INTEGER,
    },
  ]);
  expect(calls).toEqual([
    {
      end: {
        commit: expect.objectContaining({ executionId: "e1", token: "t9", number: 1, after: 2 }),
        reply: { conversationId: "c1", userId: "ada", replyTo: "m1", message: null, at: 1000 },
      },
    },
  ]);
  expect(await inTime(settled, "the settlement")).toMatchObject({
    kind: "ended",
    status: "error",
    error: { message: expect.stringContaining("gone") },
  });
  expect(logger.lines).toEqual([
    {
      ...{ level: "warn", msg: "ending an abandoned reply of an unknown agent" },
      ...{ executionId: "e1", agentId: "gone", conversationId: "c1" },
    },
  ]);
});

test.each<[string, Partial<ExecutionRow>, boolean]>([
  ["of a registered agent", { agentId: "bot" }, false],
  ["without an agent", { agentId: null }, false],
  ["that began a quarter of an hour ago", { startAt: -899_000 }, false],
  ["that began longer ago", {}, true],
])("a turn %s", async (_, fields, ends) => {
  const { end, queries } = forgotten(fields);
  expect(await end()).toBe(ends);
  expect(queries).toHaveLength(ends ? 1 : 0);
});

test("one that is gone has ended; one that another process owns has not", async () => {
  expect(await forgotten({}, { state: async () => undefined }).end()).toBe(true);
  expect(await forgotten({}, { claimAbandoned: async () => [] }).end()).toBe(false);
  const taken = forgotten({}, { endTurn: async () => ({ kind: "fenced", sequence: 2, idle: false }) });
  expect(await taken.end()).toBe(false);
});

test("one that cannot be ended is given back", async () => {
  const { end, calls } = forgotten({}, { endTurn: () => Promise.reject(new Error("no")) });
  await expect(end()).rejects.toThrow("no");
  expect(calls).toEqual([{ release: { executionId: "e1", token: "t9" } }]);
  const unreadable = forgotten({ input: "{}" });
  await expect(unreadable.end()).rejects.toThrow("input of a turn");
  const without = forgotten({
    conversationId: null,
    input: JSON.stringify({ agentId: "gone", messageId: "m" }),
  });
  await without.end();
  expect(without.calls).toMatchObject([{ end: { reply: { conversationId: "", replyTo: undefined } } }]);
});

test("a conversation that a forgotten turn keeps busy is free after its end, and the turn begins", async () => {
  const answers = [{ kind: "busy", executionId: "e0" }, { kind: "begun" }] as const;
  const asked: string[] = [];
  const begin = (state: StoredExecution | undefined) => {
    let writes = 0;
    const { engine, kind } = turnsOf({
      operations: {
        beginTurn: async () => answers[writes++] ?? { kind: "changed" },
        state: async (id) => {
          asked.push(id);
          return state;
        },
      },
    });
    return turnExecutions(engine, kind).begin(toBegin);
  };
  expect(await begin(undefined)).toEqual({ kind: "begun" });
  const live = { execution: rowForTest({ agentId: "bot" }), suspensions: [], timers: [], usage: null };
  expect(await begin(live)).toEqual({ kind: "busy", executionId: "e0" });
  expect(asked).toEqual(["e0", "e0"]);
});

// ---- turns of other processes

const headOf = (fields: Partial<ExecutionHead> = {}): ExecutionHead => ({
  ...{ executionId: "e1", kind: "turn", workflowId: "", agentId: "bot", userId: null, conversationId: "c1" },
  ...{ status: "running", sequence: 7, paused: false, parked: false, owner: "another" },
  ...fields,
});

function beside(operations: Partial<Store>) {
  const asked: string[] = [];
  const clusterChannel = {
    ...{ lease: 1000, clockOffset: 0, listen: () => () => undefined },
    askToStop: (executionId: string) => void asked.push(executionId),
  };
  const { engine } = engineForTest({ clusterChannel, ...operations });
  const others = otherTurns(engine);
  if (others === undefined) throw new Error("it is alone");
  return { engine, others, asked };
}

test("a process that has the store to itself sees no other turns", () => {
  const { engine, kind } = turnsOf();
  expect(otherTurns(engine)).toBeUndefined();
  expect(turnExecutions(engine, kind).others).toBeUndefined();
});

test("the live turn of a conversation is read, wherever it runs", async () => {
  const execution = rowForTest({ agentId: "bot", input: '{"a":1}' });
  const state: StoredExecution = { execution, suspensions: [], timers: [], usage: null };
  const liveTurn: Store["liveTurn"] = async (id) =>
    id === "c1" ? ({ executionId: "e1", owner: null } as never) : undefined;
  const { others, asked } = beside({ liveTurn, state: async () => state });
  expect(await others.running("c1")).toEqual({
    executionId: "e1",
    agentId: "bot",
    userId: "ada",
    input: { a: 1 },
    context: execution.context,
    waitsSince: undefined,
    waitsForTools: false,
    questions: [],
  });
  expect(await others.running("c2")).toBeUndefined();
  others.askToStop("e7");
  expect(asked).toEqual(["e7"]);
  const waiting = { ...state, suspensions: [waits] };
  const beyond = beside({ liveTurn, state: async () => waiting });
  expect(await beyond.others.running("c1")).toBeUndefined();
  const { engine, kind } = turnsOf({ operations: { liveTurn, state: async () => waiting } });
  expect(await turnExecutions(engine, kind).live("c1")).toMatchObject({ executionId: "e1", waitsSince: 7 });
  const ended = { ...state, execution: { ...execution, endAt: 5 } };
  expect(await beside({ liveTurn, state: async () => ended }).others.running("c1")).toBeUndefined();
  expect(await beside({ liveTurn, state: async () => undefined }).others.running("c1")).toBeUndefined();
  const without = { ...state, execution: { ...execution, input: null } };
  expect(await beside({ liveTurn, state: async () => without }).others.running("c1")).toMatchObject({
    input: null,
  });
});

test("the end of a turn is waited for, as long as it runs", async () => {
  const heads = vi.fn<Store["heads"]>(async () => [headOf()]);
  const { engine, others } = beside({ heads });
  const over = vi.fn();
  const ended = others.ended("e1", new AbortController().signal).then(over);
  await turn();
  expect([heads.mock.calls, engine.waiters.has("e1")]).toEqual([[[["e1"]]], true]);
  // It may run on: its head decides.
  engine.waiters.settle("e1", { kind: "elsewhere" });
  await turn();
  expect([heads.mock.calls.length, over.mock.calls.length]).toEqual([2, 0]);
  heads.mockResolvedValue([headOf({ status: "completed" })]);
  engine.waiters.settle("e1", { kind: "elsewhere" });
  await inTime(ended, "the end");
  expect([heads.mock.calls.length, engine.waiters.has("e1")]).toEqual([3, false]);
  heads.mockResolvedValue([]);
  await inTime(others.ended("e1", new AbortController().signal), "the end");
});

test("the wait for an end stops when the process stops or its signal is aborted", async () => {
  const { engine, others } = beside({ heads: async () => [headOf()] });
  const controller = new AbortController();
  const stopping = expect(others.ended("e1", controller.signal)).rejects.toThrow("shut");
  await turn();
  engine.waiters.settle("e1", { kind: "stopped" });
  await stopping;
  const aborting = expect(others.ended("e1", controller.signal)).rejects.toThrow("enough");
  await turn();
  controller.abort(new Error("enough"));
  await aborting;
  expect(engine.waiters.has("e1")).toBe(false);
  await expect(others.ended("e1", controller.signal)).rejects.toThrow("enough");
});
