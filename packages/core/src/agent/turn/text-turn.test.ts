// The steps of a streamed reply as a whole: text, tool calls, usage and finish reason of each.
import { expect, test } from "vitest";
import { StepCollector } from "./text-turn.ts";

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
