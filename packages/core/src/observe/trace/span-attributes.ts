// The attributes of the spans of an execution and of its steps.
import type { OpenSpan } from "./open-span.ts";

export interface TracedExecution {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | null;
  readonly conversationId: string | null;
}

export function rootAttributes(execution: TracedExecution, status: string): Record<string, unknown> {
  const { executionId, workflowId, userId, conversationId } = execution;
  return {
    "andante.workflow.id": workflowId,
    "andante.execution.id": executionId,
    "andante.execution.status": status,
    ...(userId !== null && { "user.id": userId }),
    ...(conversationId !== null && { "gen_ai.conversation.id": conversationId }),
  };
}

export function stepAttributes(
  { executionId, workflowId }: TracedExecution,
  { path, stepType, stepIndex }: OpenSpan,
): Record<string, unknown> {
  return {
    "andante.workflow.id": workflowId,
    "andante.execution.id": executionId,
    "andante.step.path": path,
    "andante.step.type": stepType,
    "andante.step.index": stepIndex,
  };
}
