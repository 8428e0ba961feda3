// The title of an open suspension: its reason, else its step; and the number of items.
import type { Inbox, InboxItem } from "@andante/client";
import { count } from "../../format/numbers.ts";

export function titleOf({ suspension, workflowId }: Pick<InboxItem, "suspension" | "workflowId">): string {
  return suspension.reason || `${workflowId} waits at ${suspension.stepId}`;
}

/** Where it waits. */
export function placeOf({ suspension, workflowId, agentId }: InboxItem): string {
  return agentId === null ? `${workflowId} / ${suspension.stepId}` : `${agentId} / chat`;
}

/** The number of all items, with "+" if there are more than were counted. */
export function countOf(inbox: Inbox | undefined): string {
  const { total = 0, complete = true } = inbox?.counts ?? {};
  return `${count(total)}${complete ? "" : "+"}`;
}
