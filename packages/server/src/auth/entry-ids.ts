// The ids of entries in lists and feeds, for calls of `authorize`.
import type { EntryIds } from "./permission.ts";

type Named = Required<Pick<EntryIds, "userId">> & EntryIds;

/** The ids of an entry with named id fields: an execution, a log line. */
export function entryIds({ workflowId, agentId, conversationId, userId }: Named): EntryIds {
  return {
    ...(workflowId && { workflowId }),
    ...(agentId && { agentId }),
    ...(conversationId && { conversationId }),
    userId,
  };
}

interface OfEntity {
  readonly entityType: "workflow" | "agent";
  readonly entityId: string;
  readonly conversationId: string | null;
  readonly userId: string | null;
}

/** The ids of traces and spans. */
export function entityIds({ entityType, entityId, conversationId, userId }: OfEntity): EntryIds {
  return entryIds({
    [entityType === "workflow" ? "workflowId" : "agentId"]: entityId,
    conversationId,
    userId,
  });
}

/** The ids of a stored log line, whose fields may have any type. */
export function recordIds(record: Readonly<Record<string, unknown>>): EntryIds {
  const idOf = (name: string) => (typeof record[name] === "string" ? record[name] : null);
  const ids = { workflowId: idOf("workflowId"), agentId: idOf("agentId") };
  return entryIds({ ...ids, conversationId: idOf("conversationId"), userId: idOf("userId") });
}
