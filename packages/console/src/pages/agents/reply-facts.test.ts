// Facts from the traces of a conversation.
import type { Span } from "@andante/client";
import { expect, test } from "vitest";
import { replyFacts } from "./reply-facts.ts";

const span = (startTime: string, duration: number, attributes: Span["attributes"]) => ({
  spanId: startTime,
  startTime,
  duration,
  attributes,
});
const trace = (traceId: string, spans: readonly ReturnType<typeof span>[]) => ({ traceId, spans });
const chat = (at: string, first: number) =>
  span(at, 900, {
    "gen_ai.operation.name": "chat",
    "gen_ai.client.operation.time_to_first_chunk": first,
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 7,
  });
const tool = (id: string, milliseconds: number) =>
  span("2026-01-01T00:00:01Z", milliseconds, { "gen_ai.tool.call.id": id });

test("the first word is that of the newest reply's first model call, tokens are of all its calls", () => {
  const newest = trace("b", [chat("2026-01-01T00:00:02Z", 0.9), chat("2026-01-01T00:00:00Z", 0.42)]);
  const facts = replyFacts([newest, trace("a", [chat("2026-01-01T00:00:00Z", 3)])]);
  expect(facts).toMatchObject({ traceId: "b", firstWord: 420, inputTokens: 200, outputTokens: 14 });
  expect(facts?.calls.map(({ spanId, outputTokens }) => [spanId, outputTokens])).toEqual([
    ["2026-01-01T00:00:00Z", 7],
    ["2026-01-01T00:00:02Z", 7],
  ]);
});

test("a call has its prompt where content is recorded", () => {
  const recorded = span("2026-01-01T00:00:00Z", 900, {
    "gen_ai.operation.name": "chat",
    "gen_ai.response.model": "gpt-5",
    "gen_ai.input.messages": '[{"role":"user"}]',
  });
  const facts = replyFacts([trace("a", [recorded])]);
  expect(facts?.calls).toMatchObject([{ model: "gpt-5", content: [["Prompt", [{ role: "user" }]]] }]);
});

test("times of tools are found by their call, of every reply; the newer one where a model gave an id twice", () => {
  const facts = replyFacts([
    trace("b", [tool("call-1", 30)]),
    trace("a", [tool("call-1", 5), tool("call-0", 210)]),
  ]);
  expect([...(facts?.tools ?? [])].sort()).toEqual([
    ["call-0", 210],
    ["call-1", 30],
  ]);
});

test("there are no facts without a trace", () => {
  expect(replyFacts([])).toBeUndefined();
});
