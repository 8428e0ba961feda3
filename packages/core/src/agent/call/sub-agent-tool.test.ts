// The progress of a sub-agent: when a new view is due, and its content.
import type { TextStreamPart, ToolSet } from "ai";
import { expect, test } from "vitest";
import { SubAgentProgress } from "./sub-agent-tool.ts";

type Part = TextStreamPart<ToolSet>;

const says = (text: string): Part => ({ type: "text-delta", id: "1", text });
const step: Part = { type: "start-step", request: {}, warnings: [] };
const called = { toolCallId: "c", toolName: "look", input: {} };

test("a text is shown when it has grown by forty characters, and a long one when it has by a quarter", () => {
  const progress = new SubAgentProgress();
  expect(progress.add(says("x".repeat(39)))).toBe(false);
  expect(progress.add(says("x"))).toBe(true);
  expect(progress.view).toEqual({ text: "x".repeat(40), toolCalls: [] });
  expect(progress.add(says("x".repeat(360)))).toBe(true);
  expect(progress.view.text).toHaveLength(400);
  expect(progress.add(says("x".repeat(99)))).toBe(false);
  expect(progress.add(says("x"))).toBe(true);
});

test("its text is that of its last step, which is shown as the first was", () => {
  const progress = new SubAgentProgress();
  progress.add(says("x".repeat(400)));
  expect(progress.view.text).toHaveLength(400);
  expect(progress.add(step)).toBe(false);
  expect(progress.text).toBe("");
  expect(progress.add(says("y".repeat(40)))).toBe(true);
  expect(progress.text).toBe("y".repeat(40));
});

test("a call is shown when it begins and when it ends, not while it yields", () => {
  const progress = new SubAgentProgress();
  const states = () => progress.view.toolCalls.map(({ state }) => state);
  const result = { type: "tool-result", ...called, output: 1, dynamic: true } as const;
  expect(progress.add({ type: "tool-call", ...called, dynamic: true })).toBe(true);
  expect(states()).toEqual(["running"]);
  expect(progress.add({ ...result, preliminary: true })).toBe(false);
  expect(states()).toEqual(["running"]);
  expect(progress.add(result)).toBe(true);
  expect(states()).toEqual(["done"]);
  expect(progress.add({ type: "tool-error", ...called, error: "no", dynamic: true })).toBe(true);
  expect(states()).toEqual(["failed"]);
  expect(progress.view.toolCalls).toEqual([{ ...called, state: "failed" }]);
});
