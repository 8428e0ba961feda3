// A row of the list of executions, for tests.
import type { ExecutionSummary } from "./types.ts";

export function rowForTest(executionId: string, more: Partial<ExecutionSummary> = {}): ExecutionSummary {
  return {
    executionId,
    workflowId: "sum",
    status: "running",
    startAt: "2026-01-01T00:00:00Z",
    endAt: null,
    userId: null,
    conversationId: null,
    stepIndex: 0,
    ...more,
  };
}
