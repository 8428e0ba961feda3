// Resumes an execution and lets it continue: what a caller that waits for it gets.
import type { SchemaChecker } from "../../agent/schema/schema-checker.ts";
import { ShuttingDownError } from "../../errors/index.ts";
import type { StoredExecution } from "../../store/store.ts";
import { checkId } from "../../values/check-id.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Engine } from "../engine/engine.ts";
import { type ExecutionHandle, handleOf } from "./execution-handle.ts";
import { type AcceptedResume, acceptIdle, acceptResume, type ResumeOptions } from "./resume.ts";
import { ResumeData } from "./resume-data.ts";

/** An execution of a registered workflow. */
export interface ExecutionToResume {
  readonly workflowId: string;
  readonly executionId: string;
  /** Checks resume data of agent calls. */
  readonly schemas: SchemaChecker;
  /** Asks the store for it: done only where what is known here is not enough. */
  read(): Promise<StoredExecution>;
}

export async function beginResume(
  engine: Engine,
  { workflowId, executionId, schemas, read }: ExecutionToResume,
  given: unknown,
  options: ResumeOptions,
): Promise<ExecutionHandle> {
  checkId(options.stepId, "stepId");
  checkId(options.suspensionId, "suspensionId");
  checkId(options.userId, "userId");
  const workflow = engine.workflow(workflowId);
  const resumeData = new ResumeData(executionId, given, { limits: engine.limits, schemas });
  const idle = await acceptIdle(engine, workflow, executionId, resumeData, options);
  if (idle !== undefined) return handleOfResume(engine, workflow, executionId, idle.startAt, idle.accepted);
  const state = await read();
  if (engine.closing) throw new ShuttingDownError({ executionId });
  const accepted = await acceptResume(engine, workflow, state, resumeData, options);
  return handleOfResume(engine, workflow, executionId, state.execution.startAt, accepted);
}

async function handleOfResume(
  engine: Engine,
  workflow: WorkflowDefinition,
  executionId: string,
  startAt: number,
  accepted: AcceptedResume,
): Promise<ExecutionHandle> {
  try {
    await accepted.continue();
    const { tracing } = engine.observation;
    const traceparent = tracing?.isLive(executionId)
      ? tracing.traceparent(executionId, undefined)
      : undefined;
    return { ...handleOf(engine, workflow.id, executionId, startAt, accepted.wait), traceparent };
  } catch (error) {
    accepted.wait.cancel();
    throw error;
  }
}
