// The title of an open suspension: its reason, else its step; and how many there are.
import type { Inbox, InboxItem } from "../../api/types.ts";

export function titleOf({ suspension, workflowId }: Pick<InboxItem, "suspension" | "workflowId">): string {
  return suspension.reason || `${workflowId} waits at ${suspension.stepId}`;
}

/** How many wait, as far as they were read. */
export function countOf(inbox: Inbox | undefined): string {
  return `${inbox?.items.length ?? 0}${inbox?.more ? "+" : ""}`;
}
