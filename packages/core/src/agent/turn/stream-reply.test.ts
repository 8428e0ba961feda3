// A reply as callers of `stream` read it: with the data that tools write, without internal parts.
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { deltas, finish, modelOf, toolCalls } from "../../../test/support/parts-model.ts";
import { textParts, turnForTest } from "../../../test/turns/turn-for-test.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { ReplyStoppedError } from "../../errors/index.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { Agent } from "../agent.ts";
import { operationContext } from "../call/operation.ts";
import { streamReply } from "./stream-reply.ts";

async function streamOf(agent: Agent) {
  const logger = createLogger({ level: "silent" });
  const andante = createAndante({ agents: { agent }, store: memoryStore(), logger });
  onTestFinished(() => andante.close({ grace: 0 }));
  return andante.agents.stream(agent.id, "go");
}

const partsOf = async (agent: Agent) => allInTime(await streamOf(agent), "the end of the stream");

test("data that a tool writes comes before the tool's result, as it is written", async () => {
  const model = controlledModel((_, number) =>
    number === 1 ? { calls: [{ name: "look", input: {} }] } : { text: ["done"] },
  );
  const look = tool({
    inputSchema: z.object({}),
    contextSchema: operationContext,
    execute: (_, { context }) => {
      for (const step of [1, 2]) context.write?.({ type: "data-step", data: { step } });
      return "seen";
    },
  });
  const parts = await partsOf(new Agent({ id: "a", model, tools: { look } }));
  const types = parts.map(({ type }) => type);
  expect(parts.filter(({ type }) => type === "data-step")).toEqual([
    { type: "data-step", data: { step: 1 } },
    { type: "data-step", data: { step: 2 } },
  ]);
  expect(types.lastIndexOf("data-step")).toBeLessThan(types.indexOf("tool-result"));
});

test("data that a tool writes comes at once, also after a provider's tool has returned", async () => {
  const [theirs, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const look = tool({
    inputSchema: z.object({}),
    contextSchema: operationContext,
    execute: async (_, { context }) => {
      await theirs.promise;
      context.write?.({ type: "data-step", data: {} });
      await written.promise;
      return "seen";
    },
  });
  const search = { toolCallId: "theirs", toolName: "search", providerExecuted: true, dynamic: true } as const;
  const model = modelOf([
    [
      { type: "tool-call", toolCallId: "ours", toolName: "look", input: "{}" },
      { type: "tool-call", input: "{}", ...search },
      { type: "tool-result", result: "found", ...search },
      toolCalls,
    ],
    [...deltas("done"), finish],
  ]);
  const parts = await streamOf(new Agent({ id: "a", model, tools: { look } }));
  const reading = async () => {
    for await (const { type, toolCallId } of parts) {
      if (type === "tool-result" && toolCallId === "theirs") theirs.resolve();
      if (type === "data-step") written.resolve();
    }
  };
  await inTime(reading(), "the end of the stream");
});

test("that the provider is still there is not a part", async () => {
  const model = controlledModel(() => ({ text: ["hello"] }));
  const pinged: LanguageModelV4 = {
    ...model,
    doStream: async (call) => {
      const { stream, ...rest } = await model.doStream(call);
      const ping = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform(part, controller) {
          if (part.type === "text-delta") controller.enqueue({ type: "ping" });
          controller.enqueue(part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(ping) };
    },
  };
  const parts = await partsOf(new Agent({ id: "a", model: pinged }));
  expect(parts.find(({ type }) => type === "text-delta")).toMatchObject({ delta: "hello" });
  expect(parts.filter((part) => part === undefined || part.type === "ping")).toEqual([]);
});

const types = (parts: readonly { readonly type: string }[]) => parts.map(({ type }) => type);
const end = { done: true, value: undefined };
const textTypes = ["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish"];

test("the message is kept before the reader sees the end, with the data that was written", async () => {
  const given = turnForTest({ replies: [textParts("a")] });
  const data = { type: "data-step", data: 1 } as const;
  given.operation.writeChunk(data);
  const seen: unknown[][] = [];
  const parts = streamReply(given.turn);
  expect(parts[Symbol.asyncIterator]()).toBe(parts);
  for await (const { type } of parts) seen.push([type, given.names().includes("completed")]);
  expect(seen).toEqual(["data-step", ...textTypes].map((type) => [type, type === "finish"]));
  const message = {
    ...{ id: "m", role: "assistant" },
    parts: [data, { type: "step-start" }, { type: "text", text: "a", state: "done" }],
  };
  const body = { messageId: "m", body: JSON.stringify(message), partial: false };
  expect(given.calls.find(([name]) => name === "finish")).toEqual(["finish", body, { waits: [] }]);
  expect(given.names()).toEqual(["endsEarlyWith", "parts", "finish", "completed", "end"]);
  const soFar = given.calls[0]?.[1];
  expect(typeof soFar === "function" && (await soFar())).toEqual({ ...body, partial: true });
  expect(await parts.next()).toEqual(end);
  expect(given.names()).toHaveLength(5);
});

test("without a conversation nothing is kept, and the data is a copy", async () => {
  const data = { type: "data-step", data: 1 } as const;
  const given = turnForTest({ isKept: false, replies: [textParts("a")] });
  given.operation.writeChunk(data);
  const [first, ...others] = await allInTime(streamReply(given.turn), "the end of the stream");
  expect(first).toEqual(data);
  expect(first).not.toBe(data);
  expect(types(others)).toEqual(textTypes);
  expect(given.names()).toEqual(["parts", "end"]);
});

test("a reply that cannot be kept ends with the error", async () => {
  const { turn, names } = turnForTest({ replies: [textParts("a")], failure: new ReplyStoppedError() });
  const parts = streamReply(turn);
  const reading = allInTime(parts, "the end of the stream");
  await expect(reading).rejects.toEqual(new ReplyStoppedError());
  expect(names()).toEqual(["endsEarlyWith", "parts", "finish", "toolsEnded", "finish", "end"]);
  expect(await parts.next()).toEqual(end);
});

test("a reader that leaves stops the reply, and the turn ends; one that has read all stops nothing", async () => {
  const left = turnForTest({ isKept: false, replies: [textParts("a")] });
  const parts = streamReply(left.turn);
  await parts.next();
  expect(await inTime(parts.return?.() ?? Promise.reject(), "the end of the reader")).toEqual(end);
  expect(left.names()).toEqual(["parts", "stop", "end"]);
  const read = turnForTest({ isKept: false, replies: [textParts("a")] });
  const all = streamReply(read.turn);
  expect(await allInTime(all, "the end of the stream")).toHaveLength(7);
  await all.return?.();
  expect(read.names()).toEqual(["parts", "end"]);
});

test("a reader may leave while it waits for a part", async () => {
  const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hold = () => {
    asked.resolve();
    return held.promise;
  };
  const { turn, names } = turnForTest({ isKept: false, replies: [[hold, ...textParts("a")]] });
  const parts = streamReply(turn);
  const waiting = parts.next();
  await inTime(asked.promise, "the question");
  const leaving = parts.return?.() ?? Promise.reject();
  expect(names()).toEqual(["parts", "stop"]);
  held.resolve();
  expect(await inTime(waiting, "the part")).toMatchObject({ value: { type: "start" } });
  expect(await inTime(leaving, "the end of the reader")).toEqual(end);
  expect(names()).toEqual(["parts", "stop", "end"]);
  // The part that it waits for may be one that cannot be kept.
  const failing = turnForTest({ replies: [textParts("a").slice(-1)], failure: new ReplyStoppedError() });
  const unread = streamReply(failing.turn);
  const failed = expect(unread.next()).rejects.toEqual(new ReplyStoppedError());
  expect(await inTime(unread.return?.() ?? Promise.reject(), "the end of the reader")).toEqual(end);
  await failed;
});

const called = { toolCallId: "c", toolName: "look", input: {} };
const calling = { type: "tool-call", ...called };
const result = { type: "tool-result", ...called, output: 1 };
const theirs = { toolCallId: "d", toolName: "search", input: {}, providerExecuted: true };

/** The types that a reader gets before and after data that is written while the part after these is waited for. */
async function aroundData(...before: object[]) {
  const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hold = () => {
    asked.resolve();
    return held.promise;
  };
  const given = turnForTest({ isKept: false, replies: [[...before, hold, { type: "text-end", id: "1" }]] });
  const parts = streamReply(given.turn);
  for (const { type } of before.map((part) => Object(part)))
    expect(await inTime(parts.next(), "a part")).toMatchObject({ value: { type } });
  const next = parts.next();
  await inTime(asked.promise, "the question");
  given.operation.writeChunk({ type: "data-step", data: 1 });
  await new Promise(setImmediate);
  held.resolve();
  const { value } = await inTime(next, "the next part");
  const rest = await allInTime(parts, "the end of the stream");
  return [value, ...rest].map((part) => part?.type);
}

const first = ["data-step", "text-end"];
const later = ["text-end", "data-step"];
test.each<[string, string[], object[]]>([
  ["no tool runs", later, []],
  ["a tool runs", first, [calling]],
  ["a tool has shown its result so far", first, [calling, { ...result, preliminary: true }]],
  ["a tool has returned", later, [calling, result]],
  ["a tool has failed", later, [calling, { type: "tool-error", ...called, error: "no" }]],
  ["one of two tools has returned", first, [calling, { ...calling, toolCallId: "e" }, result]],
  ["a provider's tool runs", later, [{ type: "tool-call", ...theirs }]],
  ["a provider's tool has returned", first, [calling, { type: "tool-result", ...theirs, output: 1 }]],
  ["a provider's tool has failed", first, [calling, { type: "tool-error", ...theirs, error: "no" }]],
  ["the step has ended", later, [calling, { type: "finish-step", response: {} }]],
])("data that is written while a part is waited for and %s: %j", async (_, expected, before) => {
  expect(await aroundData(...before)).toEqual(expected);
});

test("a part that fails while a tool runs is not lost", async () => {
  const failing = turnForTest({
    isKept: false,
    replies: [[calling, () => Promise.reject(new Error("provider down"))]],
  });
  const parts = await allInTime(streamReply(failing.turn), "the end of the stream");
  expect(parts.at(-1)).toEqual({ type: "error", error: "The model provider failed to answer" });
});
