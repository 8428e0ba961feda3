// Ids of tool calls that a model repeats.
import type { LanguageModelV4Content, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { readUIMessageStream, type ToolSet, tool, type UIMessage, type UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { allInTime } from "../../../test/support/in-time.ts";
import { createAndante } from "../../andante/create-andante.ts";
import { createLogger } from "../../observe/log/create-logger.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { Agent } from "../agent.ts";
import type { ModelPart } from "../durable/model-parts.ts";
import { CallIds, distinctCalls } from "./distinct-calls.ts";

const start = (id: string, fields = {}): ModelPart => ({
  ...{ type: "tool-input-start", id, toolName: "look" },
  ...fields,
});
const delta = (id: string): ModelPart => ({ type: "tool-input-delta", id, delta: "{}" });
const end = (id: string): ModelPart => ({ type: "tool-input-end", id });
const call = (toolCallId: string, fields = {}): ModelPart => ({
  ...{ type: "tool-call", toolCallId, toolName: "look", input: "{}" },
  ...fields,
});
const renamed = (parts: readonly ModelPart[], prompt: LanguageModelV4Prompt = []) => {
  const ids = new CallIds(prompt);
  return parts.map((part) => ids.rename(part));
};

test("an id of its own stays; a repeated one is changed in all parts of its call", () => {
  const own = [start("a"), delta("a"), end("a"), call("a"), call("b")];
  expect(renamed(own)).toEqual(own);
  expect(renamed([...own, start("a"), delta("a"), end("a"), call("a"), call("b"), call("b")])).toEqual([
    ...own,
    ...[start("a_2"), delta("a_2"), end("a_2"), call("a_2"), call("b_2"), call("b_3")],
  ]);
});

const run = { providerExecuted: true };
const result = (toolCallId: string, fields = {}): ModelPart => ({
  ...{ type: "tool-result", toolCallId, toolName: "search", result: {} },
  ...fields,
});
const request = (toolCallId: string): ModelPart => ({
  type: "tool-approval-request",
  approvalId: "r",
  toolCallId,
});

test("ids of earlier replies are not given again, also to calls that the provider runs", () => {
  const said = { type: "tool-call" as const, toolName: "look", input: {} };
  const prompt: LanguageModelV4Prompt = [
    { role: "assistant", content: ["a", "a_2"].map((toolCallId) => ({ ...said, toolCallId })) },
  ];
  expect(renamed([call("a")], prompt)).toEqual([call("a_3")]);
  expect(renamed([call("a", run), result("a")], prompt)).toEqual([call("a_3", run), result("a_3")]);
});

test("calls that the provider runs keep an id of their own, and it is not given to others", () => {
  const own = [call("a", run), result("a", { preliminary: true }), result("a"), call("b")];
  expect(renamed(own)).toEqual(own);
  expect(renamed([...own, call("a"), call("b", run), result("b"), result("a")])).toEqual([
    ...own,
    ...[call("a_2"), call("b_2", run), result("b_2"), result("a")],
  ]);
});

test("a repeated id of calls that the provider runs is changed in their results and requests, too", () => {
  const input = [start("a", run), delta("a"), end("a"), call("a", run)];
  const second = [start("a_2", run), delta("a_2"), end("a_2"), call("a_2", run)];
  expect(renamed([...input, result("a"), ...input, request("a"), result("a")])).toEqual([
    ...[...input, result("a")],
    ...[...second, request("a_2"), result("a_2")],
  ]);
  const preliminary = result("a", { preliminary: true });
  expect(renamed([...input, ...input, preliminary, result("a"), result("a")])).toEqual([
    ...[...input, ...second],
    ...[preliminary, result("a"), result("a_2")],
  ]);
});

test("each of several requests for approval belongs to the first call of its id without one", () => {
  const calls = [call("a", run), call("a", run), call("a", run)];
  const named = [call("a", run), call("a_2", run), call("a_3", run)];
  expect(renamed([...calls, request("a"), request("a"), request("a")])).toEqual([
    ...named,
    ...[request("a"), request("a_2"), request("a_3")],
  ]);
  expect(renamed([...calls, request("a"), result("a"), result("a"), request("a"), result("a")])).toEqual([
    ...named,
    ...[request("a"), result("a"), result("a_2"), request("a_3"), result("a_3")],
  ]);
});

test("a call that the provider continues keeps its id; one that has its result does not continue", () => {
  const said = { type: "tool-call" as const, toolCallId: "a", toolName: "search", input: {}, ...run };
  const output = { type: "json" as const, value: {} };
  const ended = { type: "tool-result" as const, toolCallId: "a", toolName: "search", output };
  const continued: LanguageModelV4Prompt = [{ role: "assistant", content: [said] }];
  expect(renamed([call("a", run), result("a")], continued)).toEqual([call("a", run), result("a")]);
  expect(renamed([result("a")], continued)).toEqual([result("a")]);
  expect(renamed([call("a")], continued)).toEqual([call("a_2")]);
  const over: LanguageModelV4Prompt = [{ role: "assistant", content: [said, ended] }];
  expect(renamed([call("a", run), result("a")], over)).toEqual([call("a_2", run), result("a_2")]);
});

/** A conversation in which the model calls the tool twice under one id, and then replies "end". */
function conversation(look: ToolSet[string]) {
  const calls = [1, 2].map((at) => ({ id: "call_0", name: "look", input: { at } }));
  const model = controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "user" ? { calls } : { text: ["end"] },
  );
  const looker = new Agent({ id: "looker", model, tools: { look } });
  const logger = createLogger({ level: "silent" });
  const andante = createAndante({ agents: { looker }, store: memoryStore(), logger });
  const say = async (message: unknown) => {
    const options = { conversationId: "c" };
    await allInTime(await andante.agents.chat("looker", [message], options), "the end of the reply");
    const { messages } = await andante.conversations.messages("c", {});
    const last: UIMessage | undefined = messages.at(-1);
    if (last === undefined) throw new Error("nothing is kept");
    return last;
  };
  const user = (id: string) => ({ id, role: "user", parts: [{ type: "text", text: "go" }] });
  return { say, user, model, close: () => andante.close() };
}

const inputSchema = z.object({ at: z.number() });

test("in a conversation each call gets its own approval, in every reply", async () => {
  const ran: number[] = [];
  const look = tool({ inputSchema, needsApproval: true, execute: ({ at }) => ran.push(at) });
  const { say, user, close } = conversation(look);
  for (const id of ["one", "two"]) {
    const asked = await say(user(id));
    const decided = asked.parts.map((part) =>
      "toolCallId" in part && part.approval
        ? {
            ...part,
            state: "approval-responded",
            approval: { ...part.approval, approved: Object(part.input).at === 2 },
          }
        : part,
    );
    const reply = await say({ ...asked, parts: decided });
    const states = reply.parts.flatMap((part) => ("toolCallId" in part ? [part.state] : []));
    expect(states).toEqual(["output-denied", "output-available"]);
  }
  expect(ran).toEqual([2, 2]);
  await close();
});

test("in a conversation each call gets the output that the client made for it", async () => {
  const { say, user, model, close } = conversation({ inputSchema });
  for (const id of ["one", "two"]) {
    const asked = await say(user(id));
    const parts = asked.parts.map((part) =>
      "toolCallId" in part
        ? { ...part, state: "output-available", output: `seen ${Object(part.input).at}` }
        : part,
    );
    await say({ ...asked, parts });
    const read = JSON.stringify(model.asked.at(-1)?.prompt.at(-1));
    expect(read).toMatch(/seen 1.*seen 2/);
  }
  await close();
});

test("inputs of one id that stream side by side each belong to one call", () => {
  const text = (id: string, piece: string): ModelPart => ({ type: "tool-input-delta", id, delta: piece });
  const first = [start("a"), text("a", "1"), end("a")];
  expect(renamed([...first, start("a"), text("a", "2"), end("a"), call("a"), call("a"), call("a")])).toEqual([
    ...[...first, start("a_2"), text("a_2", "2"), end("a_2")],
    ...[call("a"), call("a_2"), call("a_3")],
  ]);
  const beside = [start("a"), text("a", "1"), start("a"), text("a", "2"), text("a", "2")];
  expect(renamed([...beside, end("a"), call("a"), end("a"), call("a"), start("a"), call("a")])).toEqual([
    ...[start("a"), text("a", "1"), start("a_2"), text("a_2", "2"), text("a_2", "2")],
    ...[end("a"), call("a"), end("a_2"), call("a_2"), start("a_3"), call("a_3")],
  ]);
});

test("a call belongs to an input of its own tool in any order; one of another tool, to the first that has ended", () => {
  const pay = { toolName: "pay" };
  expect(renamed([start("a"), start("a", pay), end("a"), end("a"), call("a", pay), call("a")])).toEqual([
    ...[start("a"), start("a_2", pay), end("a"), end("a_2"), call("a_2", pay), call("a")],
  ]);
  expect(renamed([start("a"), end("a"), call("a", pay), call("a")])).toEqual([
    ...[start("a"), end("a"), call("a", pay), call("a_2")],
  ]);
  // The input still streams: it belongs to a call that has not come yet.
  expect(renamed([start("a"), delta("a"), call("a", pay), delta("a"), end("a"), call("a")])).toEqual([
    ...[start("a"), delta("a"), call("a_2", pay), delta("a"), end("a"), call("a")],
  ]);
  // One that has come without the end of its input has none to end.
  expect(renamed([start("a"), call("a"), start("a"), end("a"), call("a"), end("a"), delta("a")])).toEqual([
    ...[start("a"), call("a"), start("a_2"), end("a_2"), call("a_2"), end("a"), delta("a")],
  ]);
});

test("forty thousand calls of one id are named one by one", () => {
  const ids = new CallIds([]);
  let last: ModelPart | undefined;
  for (let number = 0; number < 40_000; number++) {
    ids.rename(start("a"));
    last = ids.rename(call("a"));
  }
  expect(last).toEqual(call("a_40000"));
});

/** A model that streams the inputs of two calls under one id side by side, and then replies "end". */
function interleaving() {
  const model = controlledModel(() => ({ text: ["end"] }));
  const calls = [1, 2].map((at) => call("call_0", { input: `{"at":${at}}` }));
  const piece = (text: string): ModelPart => ({ type: "tool-input-delta", id: "call_0", delta: text });
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const parts: ModelPart[] = [
    { type: "stream-start", warnings: [] },
    ...[start("call_0"), piece('{"at":'), start("call_0"), piece('{"at":2}')],
    ...calls.flatMap((each) => [end("call_0"), each]),
    { type: "finish", finishReason: { unified: "tool-calls", raw: undefined }, usage },
  ];
  const doStream: typeof model.doStream = async (asked) =>
    asked.prompt.at(-1)?.role === "user" ? { stream: ReadableStream.from(parts) } : model.doStream(asked);
  return { ...model, doStream };
}

const toolsOf = ({ parts }: UIMessage) =>
  parts.flatMap((part) => ("toolCallId" in part ? [[part.toolCallId, part.state, part.input]] : []));

test.each([false, true])(
  "inputs side by side leave no part that only streams (approval: %s)",
  async (needsApproval) => {
    const ran: number[] = [];
    const look = tool({ inputSchema, needsApproval, execute: ({ at }) => ran.push(at) });
    const looker = new Agent({ id: "looker", model: interleaving(), tools: { look } });
    const logger = createLogger({ level: "silent" });
    const workflow = createWorkflow({ id: "ask", input: z.unknown() }).andAgent({
      ...{ id: "ask", agent: looker, prompt: "go" },
    });
    const andante = createAndante({
      agents: { looker },
      workflows: { ask: workflow },
      store: memoryStore(),
      logger,
    });
    const options = { conversationId: "c" };
    /** The message as a client has built it from the chunks. */
    const say = async (message: unknown, continued?: UIMessage) => {
      const chunks: UIMessageChunk[] = await allInTime(
        await andante.agents.chat("looker", [message], options),
        "the reply",
      );
      const built = readUIMessageStream({
        stream: ReadableStream.from(chunks),
        ...(continued && { message: continued }),
      });
      const shown = (await allInTime(built, "the message")).at(-1);
      const { messages } = await andante.conversations.messages("c", {});
      const kept: UIMessage | undefined = messages.at(-1);
      if (shown === undefined || kept === undefined) throw new Error("there is no message");
      return { shown, kept };
    };
    const asked = await say({ id: "u", role: "user", parts: [{ type: "text", text: "go" }] });
    const calls = (state: string) => [
      ["call_0", state, { at: 1 }],
      ["call_0_2", state, { at: 2 }],
    ];
    const first = needsApproval ? "approval-requested" : "output-available";
    expect([toolsOf(asked.shown), toolsOf(asked.kept)]).toEqual([calls(first), calls(first)]);
    if (needsApproval) {
      const parts = asked.shown.parts.map((part) =>
        "toolCallId" in part && part.approval
          ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } }
          : part,
      );
      const { shown, kept } = await say({ ...asked.shown, parts }, structuredClone(asked.kept));
      expect([toolsOf(shown), toolsOf(kept)]).toEqual([calls("output-available"), calls("output-available")]);
    }
    expect(ran.toSorted()).toEqual([1, 2]);
    const { executionId } = await andante.execute("ask", 1);
    const { suspensions = [] } = await andante.state("ask", executionId);
    for (const { stepPath } of suspensions)
      await andante.resume("ask", executionId, { approved: true }, { stepId: String(stepPath) });
    expect(await andante.state("ask", executionId)).toMatchObject({
      status: "completed",
      result: { text: "end" },
    });
    expect([suspensions.length, ran.toSorted()]).toEqual([needsApproval ? 2 : 0, [1, 1, 2, 2]]);
    await andante.close();
  },
);

test("an id whose call has come is free for the next one, which gets another", () => {
  const input = [start("a"), call("a")];
  expect(renamed([...input, call("a"), ...input])).toEqual([
    ...[...input, call("a_2")],
    ...[start("a_3"), call("a_3")],
  ]);
});

test("parts whose id stays are the same objects", () => {
  const parts = [start("a"), delta("a"), end("a"), call("a"), result("a"), request("a")];
  for (const [index, part] of renamed(parts).entries()) expect(part).toBe(parts[index]);
});

test("a reply that comes at once has ids of its own as well", async () => {
  const content: LanguageModelV4Content[] = [
    { type: "text", text: "look" },
    ...["a", "a"].map((toolCallId) => ({
      type: "tool-call" as const,
      toolCallId,
      toolName: "t",
      input: "{}",
    })),
  ];
  const model = controlledModel(() => ({}));
  const { finishReason, usage } = await model.doGenerate({ prompt: [] });
  const doGenerate = async () => ({ content, finishReason, usage, warnings: [] });
  const reply = await distinctCalls({ ...model, doGenerate }).doGenerate({ prompt: [] });
  const [text, first, second] = content;
  expect(reply).toEqual({
    ...{ finishReason, usage, warnings: [] },
    content: [text, first, { ...second, toolCallId: "a_2" }],
  });
});

test("a stream that is not bounded is refused", async () => {
  const model = { ...controlledModel(() => ({})), doStream: async () => ({ stream: new ReadableStream() }) };
  await expect(distinctCalls(model).doStream({ prompt: [] })).rejects.toThrow(
    new TypeError("the model is not bounded"),
  );
});
