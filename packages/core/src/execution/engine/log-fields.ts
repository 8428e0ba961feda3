// The ids in every log line about an execution, by which lines are searched.
import type { ExecutionRow } from "../../store/store.ts";

export type LoggedExecution = Pick<ExecutionRow, "workflowId" | "executionId" | "userId" | "conversationId"> &
  Partial<Pick<ExecutionRow, "agentId">>;

export function logFields(execution: LoggedExecution): Record<string, string> {
  const { workflowId, executionId, agentId, userId, conversationId } = execution;
  const fields: Record<string, string> = workflowId === "" ? { executionId } : { workflowId, executionId };
  if (agentId) fields.agentId = agentId;
  if (userId !== null) fields.userId = userId;
  if (conversationId !== null) fields.conversationId = conversationId;
  return fields;
}
