// What every line about an execution carries: the ids that lines are searched by.
import type { ExecutionRow } from "../../store/store.ts";

export type LoggedExecution = Pick<ExecutionRow, "workflowId" | "executionId" | "userId" | "conversationId">;

export function logFields(execution: LoggedExecution): Record<string, string> {
  const { workflowId, executionId, userId, conversationId } = execution;
  // A turn has none.
  const fields: Record<string, string> = workflowId === "" ? { executionId } : { workflowId, executionId };
  if (userId !== null) fields.userId = userId;
  if (conversationId !== null) fields.conversationId = conversationId;
  return fields;
}
