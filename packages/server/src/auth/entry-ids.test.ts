// The ids of an entry: those that are present, and always its owner.
import { expect, test } from "vitest";
import { entityIds, entryIds, recordIds } from "./entry-ids.ts";

test("ids that are missing or empty are absent; the user may be null", () => {
  const all = { workflowId: "w", agentId: "a", conversationId: "c", userId: "u" };
  expect(entryIds(all)).toStrictEqual(all);
  expect(entryIds({ workflowId: "", userId: null })).toStrictEqual({ userId: null });
});

test("an entity is a workflow or an agent", () => {
  const entity = { entityId: "x", conversationId: null, userId: null };
  expect(entityIds({ ...entity, entityType: "workflow" })).toStrictEqual({ workflowId: "x", userId: null });
  expect(entityIds({ ...entity, entityType: "agent" })).toStrictEqual({ agentId: "x", userId: null });
});

test("fields of a log line count where they are texts", () => {
  const line = { workflowId: "w", agentId: "a", conversationId: "c", userId: "u", message: "m" };
  const { message: _, ...ids } = line;
  expect(recordIds(line)).toStrictEqual(ids);
  expect(recordIds({ workflowId: 5, agentId: {}, conversationId: null, userId: 7 })).toStrictEqual({
    userId: null,
  });
});
