// The attributes of the spans of an execution and of its steps, and of the events in them.
import type { EventType, JournalEvent } from "../../journal/events.ts";
import type { OpenSpan } from "./open-span.ts";

export interface TracedExecution {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | null;
  readonly conversationId: string | null;
}

/** The name of the span of an execution. */
export function nameOfExecution(workflowId: string): string {
  return `invoke_workflow ${workflowId}`;
}

export function rootAttributes(execution: TracedExecution, status: string): Record<string, unknown> {
  const { executionId, workflowId, userId, conversationId } = execution;
  return {
    "gen_ai.operation.name": "invoke_workflow",
    "gen_ai.workflow.name": workflowId,
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

/** The name of an event in a span. `step-suspended` is `suspended`: the span belongs to the step. */
export function nameOf(type: EventType): string {
  return type.replace(/^(?:step|workflow|execution|checkpoint)-/, "");
}

/** The attributes of an event in the span of this path. */
export function eventAttributes(event: JournalEvent, spanPath: string | null): Record<string, unknown> {
  return {
    ...("error" in event && {
      "exception.type": event.error.name,
      "exception.message": event.error.message,
    }),
    ...("reason" in event && event.reason !== undefined && { "andante.suspension.reason": event.reason }),
    ...("userId" in event && event.userId !== undefined && { "user.id": event.userId }),
    ...((event.type === "step-retry" || event.type === "checkpoint-retry") && {
      "andante.step.attempt": event.attempt,
    }),
    ...("path" in event &&
      event.path !== null &&
      event.path !== spanPath && { "andante.step.path": event.path }),
  };
}
