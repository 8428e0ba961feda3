// A reply as text: its steps with text, tool calls, usage and finish reason, and the message that a conversation keeps.
import { expect, test } from "vitest";
import { textParts, turnForTest } from "../../../test/turns/turn-for-test.ts";
import { ModelFailedError, ReplyStoppedError, ShuttingDownError } from "../../errors/index.ts";
import { StepCollector, textReply, whyStopped } from "./text-turn.ts";

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const called = { toolCallId: "c", toolName: "add", input: { a: 1 } };

function collected(...parts: object[]) {
  const collector = new StepCollector();
  for (const part of parts) collector.add(Object(part));
  return collector.reply({ ...usage, calls: 1 });
}

test("each step has its own text, calls, results and usage; the last text is the reply's", () => {
  const reply = collected(
    { type: "start-step" },
    { type: "text-delta", text: "let " },
    { type: "text-delta", text: "me" },
    { type: "tool-call", ...called },
    { type: "tool-result", ...called, output: 0, preliminary: true },
    { type: "tool-result", ...called, output: 1 },
    { type: "finish-step", finishReason: "tool-calls", usage },
    { type: "start-step" },
    { type: "text-delta", text: "done" },
    { type: "finish-step", finishReason: "stop", usage },
    { type: "finish", finishReason: "stop" },
  );
  const [toolCalls, toolResults] = [[called], [{ ...called, output: 1 }]];
  expect(reply).toEqual({
    ...{ text: "done", finishReason: "stop", usage: { ...usage, calls: 1 }, toolCalls, toolResults },
    steps: [
      { text: "let me", finishReason: "tool-calls", usage, toolCalls, toolResults },
      { text: "done", finishReason: "stop", usage, toolCalls: [], toolResults: [] },
    ],
  });
});

test("a step that did not end has used nothing and ended otherwise", () => {
  const { steps, finishReason } = collected({ type: "start-step" }, { type: "text-delta", text: "a" });
  expect(finishReason).toBe("other");
  const nothing = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  expect(steps).toEqual([
    { text: "a", finishReason: "other", usage: nothing, toolCalls: [], toolResults: [] },
  ]);
});

test("parts before the first step belong to none", () => {
  expect(collected({ type: "text-delta", text: "a" })).toEqual({
    ...{ text: "", finishReason: "other", usage: { ...usage, calls: 1 } },
    ...{ toolCalls: [], toolResults: [], steps: [] },
  });
});

const nothing = { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls: 0 };
const step = { text: "ab", finishReason: "stop", usage, toolCalls: [], toolResults: [] };
const said = {
  text: "ab",
  usage: nothing,
  finishReason: "stop",
  toolCalls: [],
  toolResults: [],
  steps: [step],
};

test("without a conversation the agent is asked for the whole, and others share it", async () => {
  const generate = async () => ({ text: "ab", finishReason: "stop", steps: [step] });
  const { turn, calls } = turnForTest({ isKept: false, agent: { generate } });
  const reply = textReply(turn);
  expect(await reply).toEqual(said);
  expect(calls).toEqual([["shareText", reply], ["end"]]);
});

test("a conversation keeps the message of the parts, with the data that was written", async () => {
  const { turn, calls, names, operation } = turnForTest({ replies: [textParts("a", "b")] });
  const data = { type: "data-step", data: 1 } as const;
  operation.writeChunk(data);
  expect(await textReply(turn)).toEqual(said);
  const message = {
    ...{ id: "m", role: "assistant" },
    parts: [data, { type: "step-start" }, { type: "text", text: "ab", state: "done" }],
  };
  expect(names()).toEqual(["endsEarlyWith", "parts", "shareText", "finish", "completed", "end"]);
  expect(calls.find(([name]) => name === "finish")?.[1]).toEqual({
    ...{ messageId: "m", body: JSON.stringify(message), partial: false },
  });
});

test("a reply that fails or is stopped is kept as far as it came", async () => {
  const cause = new Error("provider down");
  const begun = textParts("a").slice(0, 4);
  const failing = turnForTest({ replies: [[...begun, { type: "error", error: cause }]] });
  await expect(textReply(failing.turn)).rejects.toEqual(new ModelFailedError({ cause }));
  const stopping = turnForTest({
    replies: [[...begun, { type: "abort" }]],
    loop: { left: { reason: new ReplyStoppedError() } },
  });
  await expect(textReply(stopping.turn)).rejects.toEqual(new ReplyStoppedError());
  for (const { calls, names } of [failing, stopping]) {
    expect(names().slice(-3)).toEqual(["toolsEnded", "finish", "end"]);
    expect(calls.at(-2)?.[1]).toMatchObject({ messageId: "m", partial: true });
  }
});

test("the signal's reason comes before the loop's, and without both the reply was stopped", () => {
  const loop = { left: { reason: new ShuttingDownError() } };
  const both = turnForTest({ loop });
  expect(whyStopped(both.turn)).toBe(loop.left.reason);
  const reason = new Error("left");
  both.controller.abort(reason);
  expect(whyStopped(both.turn)).toBe(reason);
  expect(whyStopped(turnForTest().turn)).toEqual(new ReplyStoppedError());
});

test("the agent's output reads the text, unless the reply waits for a tool", async () => {
  const contexts: unknown[] = [];
  const output = {
    parseCompleteOutput: async ({ text }: { text: string }, context: unknown) => {
      contexts.push(context);
      return [text];
    },
  };
  const saying = (finishReason: string) =>
    turnForTest({
      isKept: false,
      agent: { output, generate: async () => ({ text: "ab", finishReason, steps: [step] }) },
    }).turn;
  expect(await textReply(saying("stop"))).toEqual({ ...said, output: ["ab"] });
  expect(await textReply(saying("tool-calls"))).toEqual({ ...said, finishReason: "tool-calls" });
  const inputTokenDetails = {
    noCacheTokens: undefined,
    cacheReadTokens: undefined,
    cacheWriteTokens: undefined,
  };
  const outputTokenDetails = { textTokens: undefined, reasoningTokens: undefined };
  expect(contexts).toStrictEqual([
    {
      response: { id: "m", timestamp: new Date(1000), modelId: "" },
      usage: { ...nothing, inputTokenDetails, outputTokenDetails },
      finishReason: "stop",
    },
  ]);
});
