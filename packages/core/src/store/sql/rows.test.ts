// Rows of a SQL database as the contract names their values: every column, and null where there is none.
import { expect, test } from "vitest";
import { endOfPage } from "./copy-page.ts";
import { toChunk, toLog, toRoot } from "./observation-rows.ts";
import { readTags, rowReaders, shortColumns, toTimer } from "./rows.ts";

const readers = rowReaders({
  truth: (row, column) => row[column] === "yes",
  freeText: (row, column) => `free ${String(row[column])}`,
});

const row = {
  ...{ execution_id: "e", kind: "turn", workflow_id: "w", agent_id: "a", status: "suspended", user_id: "u" },
  ...{
    conversation_id: "c",
    start_at: 1,
    timeout_at: 2,
    end_at: 3,
    sequence: 4,
    step_index: 5,
    paused: "yes",
  },
  ...{ resumes: 6, recoveries: 7, tags: '["red"]', definition: "d", parked: "why", replay_of: "r" },
  ...{ replay_step: "s", trace: "t", error: "{}", input: "1", context: "{}", result: "2", owner: "o" },
  links: "{}",
};
const empty = {
  ...row,
  ...{ kind: "workflow", agent_id: null, user_id: null, conversation_id: null, timeout_at: null },
  ...{ end_at: null, paused: "no", tags: null, definition: null, parked: null, replay_of: null },
  ...{ replay_step: null, trace: null, error: null, input: null, result: null, owner: null },
  links: null,
};
const common = {
  ...{ executionId: "e", workflowId: "w", status: "suspended", userId: "u", conversationId: "c", startAt: 1 },
  ...{ timeoutAt: 2, endAt: 3, sequence: 4, stepIndex: 5, paused: true, resumes: 6, recoveries: 7 },
  ...{ tags: ["red"], definition: "d", parked: "free why" },
  ...{ replayOf: { executionId: "r", stepId: "s" }, trace: "t", links: "{}" },
};
const none = {
  ...common,
  ...{ userId: null, conversationId: null, timeoutAt: null, endAt: null, paused: false, tags: [] },
  ...{ definition: null, parked: null, replayOf: null, trace: null, links: null },
};
const turn = { kind: "turn", agentId: "a" };
const workflow = { kind: "workflow", agentId: null };

test("an execution, a claimed one and one in a list", () => {
  const { toExecution, toClaimed, toListed } = readers;
  expect(toListed(row)).toStrictEqual({ ...common, error: "{}" });
  expect(toListed(empty)).toStrictEqual({ ...none, error: null });
  expect(toClaimed(row)).toStrictEqual({ ...turn, ...common });
  expect(toClaimed(empty)).toStrictEqual({ ...workflow, ...none });
  const values = { error: "{}", input: "1", context: "{}", result: "2" };
  expect(toExecution(row)).toStrictEqual({ ...turn, ...common, ...values });
  const nothing = { error: null, input: null, context: "{}", result: null };
  expect(toExecution(empty)).toStrictEqual({ ...workflow, ...none, ...nothing });
  expect(Object.keys(row).filter((column) => !shortColumns.includes(column))).toEqual([
    ...["error", "input", "context", "result", "owner"],
  ]);
});

test("the head of an execution", () => {
  const ids = { executionId: "e", workflowId: "w", status: "suspended", sequence: 4 };
  expect(readers.toHead(row)).toStrictEqual({
    ...{ ...turn, ...ids, userId: "u", conversationId: "c", paused: true, parked: true, owner: "o" },
  });
  expect(readers.toHead(empty)).toStrictEqual({
    ...{ ...workflow, ...ids, userId: null, conversationId: null, paused: false, parked: false, owner: null },
  });
});

test("a suspension has a schema only where it was given one", () => {
  const suspension = {
    ...{ suspension_id: "s", path: "p", step_index: 1, reason: "why", data: "1", suspended_at: 2 },
    ...{ deadline: 3, on_deadline: "4", resume_schema: "{}" },
  };
  const read = { suspensionId: "s", path: "p", stepIndex: 1, reason: "free why", data: "1", suspendedAt: 2 };
  expect(readers.toSuspension(suspension)).toStrictEqual({
    ...{ ...read, deadline: 3, onDeadline: "4", resumeSchema: "{}" },
  });
  const bare = { path: null, data: null, deadline: null, on_deadline: null, resume_schema: null };
  expect(readers.toSuspension({ ...suspension, ...bare })).toStrictEqual({
    ...{ ...read, path: null, data: null, deadline: null, onDeadline: null },
  });
});

test("timers and tags", () => {
  expect(toTimer({ path: "p", due_at: 5 })).toStrictEqual({ path: "p", dueAt: 5 });
  expect([readTags(null), readTags('["a",1]'), readTags("{}")]).toEqual([[], ["a", "1"], []]);
});

test("lines of a log, and spans", () => {
  const log = {
    ...{ id: 1, timestamp: 2, level: 3, workflow_id: "w", execution_id: "e", agent_id: "a" },
    ...{ conversation_id: "c", user_id: "u", record: "{}" },
  };
  expect(toLog(log)).toStrictEqual({
    ...{ id: 1, timestamp: 2, level: 3, workflowId: "w", executionId: "e", agentId: "a" },
    ...{ conversationId: "c", userId: "u", record: "{}" },
  });
  const chunk = { trace_id: "t", root_span_id: "r", timestamp: 1, spans: "[]" };
  expect(toChunk(chunk)).toStrictEqual({ traceId: "t", rootSpanId: "r", timestamp: 1, spans: "[]" });
  const root = {
    ...{ trace_id: "t", root_span_id: "r", entity_type: "agent", entity_id: "a", execution_id: "e" },
    ...{ user_id: "u", conversation_id: "c", start_at: 1, end_at: 2, status: "ok" },
  };
  const read = {
    ...{ traceId: "t", rootSpanId: "r", entityType: "agent", entityId: "a", executionId: "e" },
    ...{ userId: "u", conversationId: "c", startAt: 1, endAt: 2, status: "ok" },
  };
  expect(toRoot(root)).toStrictEqual(read);
  expect(toRoot({ ...root, entity_type: "workflow", end_at: null })).toStrictEqual({
    ...{ ...read, entityType: "workflow", endAt: null },
  });
});

test("a page of a copy ends before the row that does not fit, and has at least one", () => {
  const rows = (...bytes: number[]) => bytes.map((size, index) => ({ sequence: 10 + index, bytes: size }));
  const page = { rows: 2, bytes: 100 };
  expect(endOfPage([], page)).toEqual({ copied: 0, more: false });
  expect(endOfPage(rows(50, 50), page)).toEqual({ copied: 11, more: false });
  expect(endOfPage(rows(50, 51), page)).toEqual({ copied: 10, more: true });
  expect(endOfPage(rows(1, 1, 1), page)).toEqual({ copied: 11, more: true });
  expect(endOfPage(rows(500), page)).toEqual({ copied: 10, more: false });
  expect(endOfPage(rows(500, 1), page)).toEqual({ copied: 10, more: true });
});
