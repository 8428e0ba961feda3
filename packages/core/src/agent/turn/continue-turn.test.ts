// A turn that another process left is continued: with its messages and records, to its end, or to the error.
import type { UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { allInTime, inTime } from "../../../test/support/in-time.ts";
import { textParts } from "../../../test/turns/turn-for-test.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { TestClock } from "../../test-kit/test-clock.ts";
import { FilePool } from "../call/file-budget.ts";
import { ActiveTurns } from "./active-turns.ts";
import { continueTurn } from "./continue-turn.ts";
import { recoveredTurn } from "./recovered-turn.ts";

const said = (id: string, role: UIMessage["role"]): UIMessage => ({
  ...{ id, role, parts: [{ type: "text", text: id }] },
});
const stored = (message: UIMessage) => ({
  ...{ sequence: 1, messageId: message.id, createdAt: 0, partial: false, body: JSON.stringify(message) },
});
const [asked, replied] = [said("u", "user"), said("m", "assistant")];

interface Given {
  readonly input?: object;
  readonly running?: object;
  readonly agent?: object;
  readonly recent?: readonly UIMessage[] | undefined;
  readonly environment?: object;
  readonly parts?: readonly object[];
}

async function continued({
  input,
  running,
  agent,
  environment,
  parts = textParts("hi"),
  ...given
}: Given = {}) {
  const recent = "recent" in given ? given.recent : [asked];
  const logger = new RecordingLogger();
  const turns = new ActiveTurns();
  const clock = new TestClock({ start: 1000 });
  const requests: unknown[] = [];
  const read = vi.fn(async () => recent?.map(stored));
  const all = Object({
    ...{ turns, clock, logger, files: new FilePool(), maxContext: 1e6, conversations: { recent: read } },
    ...environment,
  });
  const clerk = Object({
    ...{ id: "clerk", window: 4, memory: {}, recordsCalls: true, recoverWithin: 5000 },
    toolsFor: async () => ({ look: {} }),
    supportedUrls: async () => ({}),
    parts: async (request: unknown) => {
      requests.push(request);
      return { stream: ReadableStream.from(parts) };
    },
    ...agent,
  });
  const execution = Object({
    ...{ executionId: "e", conversationId: "c", userId: "ada", onlyRecorded: false },
    ...{ context: new Map([["a", 1]]), signal: new AbortController().signal },
    ...{ settled: Promise.resolve("ended"), deferral: { isDeferring: false } },
    recorder: { read: () => undefined, isEmpty: true },
    ...running,
    input: {
      ...{ agentId: "clerk", mode: "chat", messageId: "m", replyTo: "u", startedAt: 0 },
      ...{ settings: { topK: 1 }, schema: null, traceparent: null, ...input },
    },
  });
  const recovered = recoveredTurn(all, new Map([["clerk", clerk]]), execution);
  void recovered.kept.run(execution);
  const attached = recovered.active.attach();
  await inTime(continueTurn(all, recovered), "the end of the turn");
  const chunks = attached && (await allInTime(attached, "the chunks"));
  const { reply } = await recovered.kept.ending();
  return { recovered, requests, read, logger, chunks, turns, reply, clock };
}

const types = (chunks: readonly { type: string }[] | undefined) => chunks?.map(({ type }) => type);
const textTypes = ["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish"];

test("a chat is asked for again with its messages and settings, and kept", async () => {
  const { requests, read, chunks, turns, reply, recovered, logger } = await continued();
  expect(read.mock.calls).toEqual([[{ conversationId: "c", userId: "ada", upTo: "u", limit: 5 }]]);
  expect(requests).toEqual([
    expect.objectContaining({
      ...{ messages: [{ role: "user", content: [{ type: "text", text: "u" }] }], settings: { topK: 1 } },
      tools: { look: {} },
    }),
  ]);
  const { operation } = Object(requests[0]);
  expect(operation).toMatchObject({ userId: "ada", conversationId: "c", context: new Map([["a", 1]]) });
  expect(operation.loop.recorder.executionId).toBe("e");
  expect(types(chunks)).toEqual(textTypes);
  expect(chunks?.[0]).toEqual({ type: "start", messageId: "m" });
  expect(turns.isRunning("clerk")).toBe(false);
  expect(reply).toMatchObject({
    conversationId: "c",
    userId: "ada",
    replyTo: "u",
    message: { messageId: "m" },
  });
  expect(recovered.active.question).toEqual({
    ...{ agentId: "clerk", mode: "chat", messageId: "u", body: JSON.stringify(asked) },
  });
  expect(logger.lines).toEqual([]);
});

test("a reply after a decision continues the message, whose parts are read before it", async () => {
  const given = { input: { replyTo: null }, recent: [asked, replied] };
  const { chunks, read, recovered, reply } = await continued(given);
  expect(read.mock.calls).toMatchObject([[{ upTo: "m" }]]);
  expect(types(chunks)).toEqual(["start", "text-start", "text-delta", "text-end", ...textTypes.slice(1)]);
  expect(recovered.active.question).toMatchObject({ messageId: "m", body: undefined });
  expect(JSON.parse(reply.message?.body ?? "{}").parts).toHaveLength(3);
});

test("a question that is not the last message any more is not shared with others", async () => {
  const { recovered } = await continued({ recent: [said("v", "user")] });
  expect(recovered.active.question?.body).toBeUndefined();
  const { requests } = await continued({ recent: undefined });
  expect(requests).toMatchObject([{ messages: [] }]);
});

test("the agent's window, tools and title count", async () => {
  const title = vi.fn(async () => "T");
  const change = vi.fn(async () => true);
  const conversations = {
    recent: vi.fn(async () => [asked].map(stored)),
    read: async () => ({ title: "u" }),
    change,
  };
  conversations.recent.mockResolvedValueOnce([asked].map(stored));
  conversations.recent.mockResolvedValueOnce([asked, replied].map(stored));
  const { turns } = await continued({ agent: { title }, environment: { conversations } });
  await turns.close(1000);
  expect(change.mock.calls).toEqual([
    [{ key: expect.any(String), conversationId: "c", userId: "ada", title: "T", at: 1000 }],
  ]);
  const messages = [said("a", "user"), said("b", "assistant"), asked];
  const { requests } = await continued({ agent: { window: 1 }, recent: messages });
  expect(requests).toMatchObject([{ messages: [{ role: "user", content: [{ text: "u" }] }] }]);
  const small = await continued({ agent: { memory: { tokens: 1 } }, recent: messages });
  expect(small.requests).toMatchObject([{ messages: [{ content: [{ text: "u" }] }] }]);
});

test("a text and an object are made to their end, without readers", async () => {
  const text = await continued({ input: { mode: "text" } });
  expect(text.chunks).toBeUndefined();
  expect(text.reply.message).toMatchObject({ messageId: "m", partial: false });
  const verdict = { ok: true };
  const schemas = { check: vi.fn(async () => verdict) };
  const object = await continued({
    input: { mode: "object", schema: { type: "object" } },
    environment: { schemas },
    parts: textParts('{"n":1}'),
  });
  expect(object.reply.message).toMatchObject({ messageId: "m", partial: false });
  expect(schemas.check).toHaveBeenCalledTimes(2);
  expect(Object(object.requests[0]).output).toMatchObject({ name: "object" });
  for (const mode of ["text", "object"]) {
    const schema = mode === "object" ? { type: "object" } : null;
    const failing = await continued({
      ...{ input: { mode, schema }, environment: { schemas } },
      parts: [{ type: "error", error: new Error("provider down") }],
    });
    expect(failing.logger.messages).toEqual(["a reply of the agent failed"]);
    expect(failing.turns.isRunning("clerk")).toBe(false);
  }
});

test("a turn of an agent whose calls are not recorded is not asked again when only records count", async () => {
  const { requests, chunks, reply, turns } = await continued({
    ...{ agent: { recordsCalls: false }, running: { onlyRecorded: true } },
  });
  expect([requests, reply.message]).toEqual([[], null]);
  expect(chunks).toEqual([{ type: "error", errorText: "The reply was stopped" }]);
  expect(turns.isRunning("clerk")).toBe(false);
  const recorded = await continued({ running: { onlyRecorded: true } });
  expect(recorded.requests).toHaveLength(1);
  const foreign = await continued({ agent: { recordsCalls: false } });
  expect(foreign.requests).toHaveLength(1);
});

test("a turn that cannot be opened again ends with the error, which is logged", async () => {
  const order: string[] = [];
  const environment = {
    observed: async () => {
      order.push("observed");
    },
  };
  const toolsFor = async () => {
    order.push("tools");
    throw new Error("no tools");
  };
  const { chunks, logger, turns, reply } = await continued({ agent: { toolsFor }, environment });
  expect(order).toEqual(["observed", "tools"]);
  expect(chunks).toEqual([{ type: "error", errorText: "The model provider failed to answer" }]);
  expect(logger.of("error")).toMatchObject([{ agentId: "clerk", conversationId: "c", userId: "ada" }]);
  expect([turns.isRunning("clerk"), reply.message]).toEqual([false, null]);
  const lost = await continued({ agent: { toolsFor }, running: { settled: Promise.resolve("failed") } });
  expect(lost.turns.isRunning("clerk")).toBe(false);
});

test("the spans of a recovered turn join the caller's trace", async () => {
  const telemetry = vi.fn(() => () => ({}));
  await continued({
    environment: { telemetry },
    input: { traceparent: "00-1" },
    running: { userId: undefined },
  });
  await continued({ environment: { telemetry } });
  expect(telemetry.mock.calls.map(([caller]: unknown[]) => caller)).toEqual([
    { userId: undefined, conversationId: "c", traceparent: "00-1" },
    { userId: "ada", conversationId: "c", traceparent: undefined },
  ]);
});
