// A recorded reply, read as one that comes at once: everything that the model said, and nothing else.
import { expect, test } from "vitest";
import { type ModelPart, partsOf, resultOf, toolCallIds } from "./model-parts.ts";

const tokens = { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined };
const usage = {
  inputTokens: tokens,
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const timestamp = new Date(0);
const finishReason = { unified: "tool-calls", raw: "tool_use" } as const;
const call = { type: "tool-call", toolCallId: "c1", toolName: "add", input: "{}" } as const;
const theirs = { ...call, toolCallId: "c2", providerExecuted: true } as const;

const parts: ModelPart[] = [
  { type: "stream-start", warnings: [{ type: "other", message: "careful" }] },
  { type: "response-metadata", id: "r", timestamp, modelId: "m" },
  { type: "reasoning-start", id: "0" },
  { type: "reasoning-delta", id: "0", delta: "hm" },
  { type: "reasoning-end", id: "0", providerMetadata: { p: { signature: "s" } } },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Let " },
  { type: "text-delta", id: "1", delta: "me see" },
  { type: "text-end", id: "1" },
  { type: "tool-input-start", id: "c1", toolName: "add" },
  { type: "tool-input-delta", id: "c1", delta: "{}" },
  { type: "tool-input-end", id: "c1" },
  call,
  theirs,
  { type: "finish", finishReason, usage, providerMetadata: { p: { kept: true } } },
];

const result = {
  content: [
    { type: "reasoning", text: "hm", providerMetadata: { p: { signature: "s" } } },
    { type: "text", text: "Let me see" },
    call,
    theirs,
  ],
  finishReason,
  usage,
  warnings: [{ type: "other", message: "careful" }],
  response: { id: "r", timestamp, modelId: "m" },
  providerMetadata: { p: { kept: true } },
} as const;

test("parts are put together", () => {
  expect(resultOf({ parts })).toEqual(result);
  expect(resultOf({ parts, structuredOutputText: "{}" })).toEqual({ ...result, structuredOutputText: "{}" });
});

test("a reply that came at once is the same when its parts are put together again", () => {
  const again = { ...result, content: [...result.content], warnings: [...result.warnings] };
  expect(resultOf({ parts: partsOf(again) })).toEqual(result);
});

test("a reply that was cut short says only what is known", () => {
  const { content, finishReason: end, warnings, response } = resultOf({ parts: [] });
  expect({ content, end, warnings, response }).toEqual({
    content: [],
    end: { unified: "other", raw: undefined },
    warnings: [],
    response: undefined,
  });
});

test("the calls of tools that run here are counted, those of the provider are not", () => {
  expect(toolCallIds({ parts })).toEqual(["c1"]);
});
