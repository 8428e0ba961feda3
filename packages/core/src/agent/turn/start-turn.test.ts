// The start of a turn: the operation of the caller, its records, the title after it, and a turn without a conversation.
import { tool, type UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { inTime } from "../../../test/support/in-time.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { FilePool } from "../call/file-budget.ts";
import { Operation } from "../call/operation.ts";
import { ActiveTurns } from "./active-turns.ts";
import type { KeptTurn } from "./kept-turn.ts";
import { operationOf, recordingOperation, startTurn, titleAfter } from "./start-turn.ts";
import type { StartTurnOptions } from "./turn-environment.ts";

const said = (id: string, role: UIMessage["role"], text: string): UIMessage => ({
  ...{ id, role, parts: [{ type: "text", text }] },
});
const [asked, replied] = [said("u", "user", "hi"), said("a", "assistant", "hello")];

function environmentForTest(fields: object = {}) {
  const turns = new ActiveTurns();
  const logger = new RecordingLogger();
  const order: string[] = [];
  const accept = vi.fn(async (_agent: unknown, _operation: unknown, messages: unknown) => messages);
  const environment = Object({
    ...{ turns, logger, clock: new TestClock({ start: 5000 }), files: new FilePool(1000), maxContext: 1e6 },
    approvals: { accept },
    ready: new Promise<void>((resolve) => setImmediate(resolve)).then(() => order.push("ready")),
    observed: async () => order.push("observed"),
    ...fields,
  });
  const agent = (fields: object = {}) =>
    Object({
      ...{ id: "clerk", window: 0, memory: {}, toolsFor: async () => ({}), checkSettings: () => undefined },
      ...fields,
    });
  const start = (input: unknown, options: Partial<StartTurnOptions> = {}, fields: object = {}) =>
    inTime(startTurn(environment, agent(fields), input, { mode: "text", ...options }), "the turn");
  return { environment, turns, logger, order, accept, agent, start };
}

test("the operation has the caller, and its log lines name agent, conversation and user", () => {
  const telemetry = vi.fn(() => () => ({}));
  const { environment, turns, logger } = environmentForTest({ telemetry });
  const active = turns.begin("clerk", undefined);
  const caller = { userId: "ada", conversationId: "c", traceparent: "00-1" };
  const context = new Map([["a", 1]]);
  const operation = operationOf(environment, Object({ id: "clerk" }), caller, context, active);
  expect(operation).toMatchObject({ userId: "ada", conversationId: "c", context, signal: active.signal });
  expect(telemetry.mock.calls).toEqual([[caller, operation.logger]]);
  expect(operation.telemetry).toBeTypeOf("function");
  operation.logger.info({}, "x");
  const { environment: plain } = environmentForTest({ logger });
  operationOf(plain, Object({ id: "clerk" }), {}, new Map(), active).logger.info({}, "y");
  expect(logger.lines).toEqual([
    { level: "info", msg: "x", agentId: "clerk", conversationId: "c", userId: "ada" },
    { level: "info", msg: "y", agentId: "clerk" },
  ]);
});

test("the memory of the files counts for the user and is given back at the end of the turn", async () => {
  const pool = new FilePool(1000, 300);
  const { environment, turns } = environmentForTest({ files: pool });
  const active = turns.begin("clerk", undefined);
  const { files } = operationOf(environment, Object({ id: "clerk" }), { userId: "ada" }, new Map(), active);
  await files.load(async ({ reserve, signal }) => {
    await reserve(600, signal);
    return { data: new Uint8Array(600) };
  });
  const signal = AbortSignal.timeout(5000);
  // They count for their user alone: another one has the reserved bytes.
  expect(pool.take(300, { userId: "grace", holds: false }, signal)).toBeUndefined();
  pool.give(300, "grace");
  const others = pool.take(200, { userId: "ada", holds: false }, signal);
  const isFree = () =>
    Promise.race([
      Promise.resolve(others).then(() => true),
      new Promise((resolve) => setImmediate(resolve, false)),
    ]);
  expect(await isFree()).toBe(false);
  active.end();
  await active.over;
  expect(await isFree()).toBe(true);
});

test.each([
  ["chat", true],
  ["text", true],
  ["stream", false],
  ["object", false],
] as const)(
  "the calls of a reply of mode %s are recorded; the last one waits for the end: %s",
  (mode, waits) => {
    const telemetry = () => ({});
    const operation = new Operation(Operation.from(undefined, undefined), { telemetry });
    const active = new ActiveTurns().begin("clerk", undefined);
    const deferral = { isDeferring: false };
    const running = Object({ recorder: { read: () => undefined, isEmpty: true }, deferral });
    const recording = recordingOperation(operation, running, { active, mode, onlyRecorded: false });
    expect(recording).not.toBe(operation);
    expect(recording.telemetry).toBe(telemetry);
    expect(recording.loop?.logger).toBe(operation.logger);
    expect(recording.loop?.recorder.signal).toBe(active.signal);
    expect(recording.loop?.recorder.deferral !== undefined).toBe(waits);
  },
);

test("a title is made once, after the first reply", async () => {
  const { environment, turns, agent } = environmentForTest({
    conversations: { recent: async () => [], read: async () => undefined },
  });
  const afterwards = vi.spyOn(turns, "afterwards");
  const operation = Operation.from(undefined, undefined);
  const where = { operation, conversationId: "c", userId: null };
  const titled = (history: UIMessage[]) =>
    titleAfter(environment, { ...where, agent: agent({ title: () => "T" }), history });
  expect(titled([asked])).toBeTypeOf("function");
  expect(titleAfter(environment, { ...where, agent: agent(), history: [asked] })).toBeUndefined();
  expect(titled([])).toBeUndefined();
  expect(titled([replied])).toBeUndefined();
  expect(titled([asked, replied])).toBeUndefined();
  titled([asked])?.(replied);
  expect(afterwards).toHaveBeenCalledTimes(1);
  await afterwards.mock.calls[0]?.[0];
});

test("the title is made of the question and the reply, and written at the time then", async () => {
  const change = vi.fn(async () => true);
  const read = vi.fn(async () => ({ title: "hi" }));
  const recent = vi.fn(async () => [1, 2]);
  const { environment, turns, agent } = environmentForTest({ conversations: { recent, read, change } });
  const operation = Operation.from(undefined, undefined);
  const title = vi.fn(async () => "Greetings");
  const where = { conversationId: "c", userId: "ada" };
  titleAfter(environment, { ...where, operation, agent: agent({ title }), history: [asked] })?.(replied);
  await turns.close(1000);
  expect(title.mock.calls).toEqual([[[asked, replied], operation]]);
  expect(change.mock.calls).toEqual([[{ key: expect.any(String), ...where, title: "Greetings", at: 5000 }]]);
});

test("without a conversation the caller's messages are the prompt, and nothing of it is kept", async () => {
  const { start, order, accept, turns } = environmentForTest();
  const started = await start([asked, replied, said("u2", "user", "well?")], { topK: 1, userId: "ada" });
  if (started.kind !== "new") throw new Error("expected a new turn");
  const { turn } = started;
  expect(turn.isKept).toBe(false);
  expect(turn.history.map(({ id }) => id)).toEqual(["u", "a", "u2"]);
  expect(turn.messages).toEqual([
    { role: "user", content: [{ type: "text", text: "hi" }] },
    { role: "assistant", content: [{ type: "text", text: "hello" }] },
    { role: "user", content: [{ type: "text", text: "well?" }] },
  ]);
  expect(turn.messageId).toMatch(/^[0-9a-f-]{36}$/);
  expect(turn.operation).toMatchObject({ userId: "ada", conversationId: undefined, loop: undefined });
  expect(order).toEqual(["ready", "observed"]);
  expect(accept).toHaveBeenCalledTimes(1);
  expect(turns.isRunning("clerk")).toBe(true);
});

test("in a conversation only the last message counts, and the turn is recorded and kept", async () => {
  const recorder = { read: () => undefined, isEmpty: true };
  const running = Object({
    recorder,
    signal: new AbortController().signal,
    settled: Promise.resolve("ended"),
  });
  const begun: unknown[] = [];
  const begin = async (turn: KeptTurn, what: unknown) => {
    begun.push(what);
    void turn.run(running);
    return { kind: "begun", before: [] };
  };
  const { start, accept, turns } = environmentForTest({ kept: { begin }, conversations: {} });
  const options = { conversationId: "c", context: { a: 1 }, mode: "stream" } as const;
  // More than a call may have without a conversation: the client sends its whole history.
  const history = Array.from({ length: 1001 }, () => replied);
  const started = await start([...history, asked], options, { window: 5, title: () => "T" });
  if (started.kind !== "new") throw new Error("expected a new turn");
  const { turn } = started;
  const message = { kind: "post", messageId: "u", body: JSON.stringify(asked), title: "hi", again: false };
  expect(begun).toEqual([
    {
      ...{ agentId: "clerk", conversationId: "c", userId: null, context: '{"a":1}', before: 5 },
      message: { ...message, at: 5000 },
    },
  ]);
  expect([turn.isKept, turn.history]).toEqual([true, [asked]]);
  expect(turn.operation.loop?.recorder.isEmpty).toBe(true);
  expect(accept).not.toHaveBeenCalled();
  const afterwards = vi.spyOn(turns, "afterwards").mockReturnValue();
  await turn.complete(replied);
  expect(afterwards).toHaveBeenCalledTimes(1);
  await turn.end();
  await start([asked], { conversationId: "c", again: true, replaces: "a", userId: "ada" }, { window: 5 });
  expect(begun[1]).toMatchObject({ userId: "ada", context: "{}", message: { again: true } });
});

test("a message whose reply runs gets that reply, and no turn of its own", async () => {
  const { start, environment } = environmentForTest({ conversations: {} });
  const active = environment.turns.begin("other", undefined);
  await environment.turns.enter(active, "c", null, async () => undefined);
  active.question = { agentId: "clerk", mode: "text", messageId: "u", body: undefined };
  const reply = Promise.resolve(Object({ text: "hello" }));
  active.shareText(reply);
  const started = await start([asked], { conversationId: "c" }, { window: 5 });
  expect(started).toEqual({ kind: "shared", reply: { mode: "text", reply } });
  expect(environment.turns.isRunning("clerk")).toBe(false);
});

test("a list that ends with the assistant's message continues it; messages of models are no history", async () => {
  const { start } = environmentForTest();
  const chat = await start([asked, replied]);
  expect(chat.kind === "new" && chat.turn.messageId).toBe("a");
  const model = await start([{ role: "user", content: "hi" }], { conversationId: "c" });
  if (model.kind !== "new") throw new Error("expected a new turn");
  expect([model.turn.history, model.turn.messages]).toEqual([[], [{ role: "user", content: "hi" }]]);
  expect(model.turn.operation.conversationId).toBe("c");
});

test("outputs in a continued message are checked against their tools", async () => {
  const { start } = environmentForTest();
  const output = { type: "tool-ask", toolCallId: "t", input: {}, state: "output-available", output: 5 };
  const ask = tool({ inputSchema: z.object({}), outputSchema: z.string() });
  const tools = { toolsFor: async () => ({ ask }) };
  const sent = [asked, { id: "a", role: "assistant", parts: [output] }];
  await expect(start(sent, {}, tools)).rejects.toMatchObject({ status: 400 });
});

test("the agent's own reading of data parts counts", async () => {
  const { start } = environmentForTest();
  const convertDataPart = () => ({ type: "text", text: "seen" });
  const sent = [{ id: "u", role: "user", parts: [{ type: "data-x", data: 1 }] }];
  const started = await start(sent, {}, { convertDataPart });
  expect(started.kind === "new" && started.turn.messages).toEqual([
    { role: "user", content: [{ type: "text", text: "seen" }] },
  ]);
});

test("a start that fails ends the turn, and is noted with the caller's names", async () => {
  const { start, turns, logger } = environmentForTest();
  const failure = new Error("no tools today");
  const toolsFor = () => Promise.reject(failure);
  await expect(start("hi", { userId: "ada" }, { toolsFor })).rejects.toBe(failure);
  expect(turns.isRunning("clerk")).toBe(false);
  expect(logger.lines).toMatchObject([{ level: "error", agentId: "clerk", userId: "ada", err: failure }]);
  await expect(start("hi", { userId: "" })).rejects.toMatchObject({ code: "invalid-option" });
  expect(turns.isRunning("clerk")).toBe(false);
  expect(logger.lines).toHaveLength(1);
});

test("a caller that left gets that as the reason, not the error that follows from it", async () => {
  const { start } = environmentForTest();
  const caller = new AbortController();
  const toolsFor = async () => {
    caller.abort();
    throw new Error("aborted");
  };
  await expect(start("hi", { signal: caller.signal }, { toolsFor })).rejects.toMatchObject({
    code: "reply-stopped",
  });
});
