// What every line about an execution carries: the ids that lines are searched by.
import type { ExecutionRow } from "../../store/store.ts";

export type LoggedExecution = Pick<ExecutionRow, "workflowId" | "executionId" | "userId" | "conversationId">;

export function logFields(execution: LoggedExecution): Record<string, string> {
  const { workflowId, executionId, userId, conversationId } = execution;
  return {
    // A turn has none.
    ...(workflowId !== "" && { workflowId }),
    executionId,
    ...(userId !== null && { userId }),
    ...(conversationId !== null && { conversationId }),
  };
}
