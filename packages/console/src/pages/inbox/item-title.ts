// The title of an open suspension: its reason, else its step; and the number of items.
import type { Inbox, InboxItem } from "@andante/client";

export function titleOf({ suspension, workflowId }: Pick<InboxItem, "suspension" | "workflowId">): string {
  return suspension.reason || `${workflowId} waits at ${suspension.stepId}`;
}

/** Where it waits. */
export function placeOf({ suspension, workflowId, agentId }: InboxItem): string {
  return agentId === null ? `${workflowId} / ${suspension.stepId}` : `${agentId} / chat`;
}

/** The number of loaded items, with "+" if there are more. */
export function countOf(inbox: Inbox | undefined): string {
  return `${inbox?.items.length ?? 0}${inbox?.more ? "+" : ""}`;
}
