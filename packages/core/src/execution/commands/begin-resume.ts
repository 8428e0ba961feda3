// Resumes an execution and lets it continue: what a caller that waits for it gets.
import type { StoredExecution } from "../../store/store.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Engine } from "../engine/engine.ts";
import { type ExecutionHandle, handleOf } from "./execution-handle.ts";
import { acceptResume, type ResumeOptions } from "./resume.ts";

export async function beginResume(
  engine: Engine,
  workflow: WorkflowDefinition,
  state: StoredExecution,
  resumeData: unknown,
  options: ResumeOptions,
): Promise<ExecutionHandle> {
  const { executionId, startAt } = state.execution;
  const { wait, ...accepted } = await acceptResume(engine, workflow, state, resumeData, options);
  try {
    await accepted.continue();
    const { tracing } = engine.observation;
    const traceparent = tracing?.isLive(executionId)
      ? tracing.traceparent(executionId, undefined)
      : undefined;
    return { ...handleOf(engine, workflow.id, executionId, startAt, wait), traceparent };
  } catch (error) {
    wait.cancel();
    throw error;
  }
}
