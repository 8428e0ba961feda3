// Deltas of a chat reply: which of them are one text, and that text.
import type { UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { deltaOf, isDelta, merge, withDelta } from "./merge-deltas.ts";

const text = (id: string, delta: string) => ({ type: "text-delta", id, delta }) as const;
const thought = (id: string, delta: string) => ({ type: "reasoning-delta", id, delta }) as const;
const input = (toolCallId: string, inputTextDelta: string) =>
  ({ type: "tool-input-delta", toolCallId, inputTextDelta }) as const;
const said = { providerMetadata: { test: { n: 1 } } };

test.each<[UIMessageChunk, UIMessageChunk, UIMessageChunk]>([
  [text("1", "a"), text("1", "b"), text("1", "ab")],
  [thought("1", "a"), thought("1", "b"), thought("1", "ab")],
  [input("1", "a"), input("1", "b"), input("1", "ab")],
])("neighbouring pieces of one text are one: %j", (last, next, both) => {
  expect(merge(last, next)).toStrictEqual(both);
});

test.each<[string, UIMessageChunk, UIMessageChunk]>([
  ["two texts", text("1", "a"), text("2", "b")],
  ["the inputs of two calls", input("1", "a"), input("2", "b")],
  ["a text and a thought", text("1", "a"), thought("1", "b")],
  ["a piece and an end", text("1", "a"), { type: "text-end", id: "1" }],
  ["a start and a piece", { type: "text-start", id: "1" }, text("1", "b")],
  ["two other chunks", { type: "start-step" }, { type: "start-step" }],
  ["a piece with metadata and one without", { ...text("1", "a"), ...said }, text("1", "b")],
  ["a piece without metadata and one with", text("1", "a"), { ...text("1", "b"), ...said }],
])("%s stay two", (_, last, next) => {
  expect(merge(last, next)).toBeUndefined();
});

test("a delta has a text, which can be replaced; other chunks have none", () => {
  for (const chunk of [text("1", "a"), thought("1", "a"), input("1", "a")]) {
    expect([isDelta(chunk), deltaOf(chunk)]).toEqual([true, "a"]);
    expect(deltaOf(withDelta(chunk, "b"))).toBe("b");
    expect(withDelta(chunk, "a")).toStrictEqual(chunk);
  }
  const end: UIMessageChunk = { type: "text-end", id: "1" };
  expect([isDelta(end), deltaOf(end)]).toEqual([false, ""]);
});
