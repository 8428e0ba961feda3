// The view of a caller: the same for stored and live log lines and for spans.
import { expect, test } from "vitest";
import { seesAnything, type View, visibleLine, visibleLines, visibleRecord, visibleSpan } from "./view.ts";

const all: View = { kind: "all" };
const own: View = { kind: "own", userId: "ada" };
const outline: View = { kind: "outline" };
const nothing: View = { kind: "nothing" };

test.each<[View, object, unknown]>([
  [all, { workflowId: "w", conversationId: "c" }, { workflowId: "w", conversationId: "c" }],
  [own, { workflowId: "w" }, { workflowId: "w", userId: "ada" }],
  [outline, { workflowId: "w" }, { workflowId: "w" }],
  [outline, { conversationId: "c" }, undefined],
  [nothing, { workflowId: "w" }, undefined],
])("with the view %j the filter %j becomes %j", (view, filter, expected) => {
  expect(visibleLines(view, filter)).toEqual(expected);
});

const shown = { timestamp: "t", level: "info", msg: "m", workflowId: "w", agentId: "a" };
const record = { ...shown, userId: "ada", executionId: "e", secret: 1 };
const line = (fields: object) => ({
  ...{ id: 1, timestamp: 1, level: 1, workflowId: null, executionId: null, agentId: null },
  ...{ conversationId: null, userId: null, record: JSON.stringify(fields) },
});

test("an outline of a line has its definition, time, level and message; other views have all of it", () => {
  for (const view of [all, own]) {
    expect(visibleRecord(view, record)).toBe(record);
    expect(visibleLine(view, line(record))).toBe(JSON.stringify(record));
  }
  const seen = line(record);
  expect(visibleRecord(outline, record)).toStrictEqual(shown);
  expect(visibleLine(outline, seen)).toBe(JSON.stringify(shown));
  // The second reader receives the same text.
  expect(visibleLine(outline, seen)).toBe(JSON.stringify(shown));
});

test("a value that a step logs under the name of an id is no part of the outline", () => {
  const { workflowId: _, agentId: _agent, ...rest } = shown;
  expect(visibleRecord(outline, { ...shown, workflowId: { secret: 1 }, agentId: 5 })).toStrictEqual(rest);
  expect(visibleRecord(outline, { ...shown, agentId: undefined })).toStrictEqual({
    ...rest,
    workflowId: "w",
  });
});

test.each<[View, string | null, boolean]>([
  [all, null, true],
  [outline, "bob", true],
  [own, "ada", true],
  [own, "bob", false],
  [own, null, false],
  [nothing, "ada", false],
])("with the view %j entries of %j are seen: %s", (view, owner, expected) => {
  expect(seesAnything(view, owner)).toBe(expected);
});

test("an outline of a span has no ids", () => {
  const kept = {
    ...{ entityType: "workflow", entityId: "w", name: "invoke_workflow w", startTime: "t", endTime: "t" },
    ...{ duration: 1, status: "ok" },
  };
  const event = Object({
    ...{ type: "span-end", userId: "ada", conversationId: null },
    span: { ...kept, traceId: "x", spanId: "y", attributes: { a: 1 } },
  });
  expect(visibleSpan(outline, event)).toStrictEqual({ type: "span-end", span: kept });
  expect(visibleSpan(all, event)).toStrictEqual({ type: "span-end", span: event.span });
});
