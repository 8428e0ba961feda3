// A complete reply as callers of `text` see it: its steps, and the tool calls and results of all of them.
import { expect, test } from "vitest";
import { viewReply } from "./text-reply.ts";

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const call = (toolCallId: string) => ({ toolCallId, toolName: "add", input: { at: new Date(0) } });
const shown = (toolCallId: string) => ({
  toolCallId,
  toolName: "add",
  input: { at: "1970-01-01T00:00:00.000Z" },
});

test("the fields of the steps are theirs alone, and calls and results are listed in order", () => {
  const step = (text: string, toolCallId: string) => ({
    ...{ text, finishReason: "tool-calls", usage, request: "secret" },
    toolCalls: [{ ...call(toolCallId), providerMetadata: {} }],
    toolResults: [{ ...call(toolCallId), output: new Date(0), dynamic: true }],
  });
  const result = { text: "done", finishReason: "stop", steps: [step("one", "a"), step("two", "b")] };
  const seen = (text: string, toolCallId: string) => ({
    ...{ text, finishReason: "tool-calls", usage },
    toolCalls: [shown(toolCallId)],
    toolResults: [{ ...shown(toolCallId), output: "1970-01-01T00:00:00.000Z" }],
  });
  const steps = [seen("one", "a"), seen("two", "b")];
  expect(viewReply(Object(result), { ...usage, calls: 2 })).toEqual({
    ...{ text: "done", finishReason: "stop", usage: { ...usage, calls: 2 }, steps },
    toolCalls: steps.flatMap(({ toolCalls }) => toolCalls),
    toolResults: steps.flatMap(({ toolResults }) => toolResults),
  });
});
