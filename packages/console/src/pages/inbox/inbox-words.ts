// What an open suspension is called: its reason, else the step that asks.
import type { InboxItem } from "../../api/types.ts";

export function titleOf({ suspension, workflowId }: Pick<InboxItem, "suspension" | "workflowId">): string {
  return suspension.reason || `${workflowId} waits at ${suspension.stepId}`;
}
