// The line about an execution that failed: the one error line that operators search for, however it failed.
import { causeOf, type Failure, origin } from "../../journal/failure.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { type LoggedExecution, logFields } from "./log-fields.ts";

interface ReportSources {
  readonly logger: Logger;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
}

/** `stepIndex`: the top-level step that it has reached. */
export function reportFailure(
  { logger, workflows }: ReportSources,
  execution: LoggedExecution,
  stepIndex: number | undefined,
  failure: Failure,
): void {
  const { workflowId } = execution;
  // What no step is to blame for (a timeout of the whole, a limit) has happened while one was reached.
  const reached = stepIndex === undefined ? undefined : workflows.get(workflowId)?.steps[stepIndex]?.id;
  const stepPath = failure.step ?? reached;
  const attempt = failure[origin]?.attempt;
  const where = {
    ...(stepPath !== undefined && { stepPath }),
    ...(attempt !== undefined && { attempt }),
  };
  logger.error({ ...logFields(execution), ...where, err: causeOf(failure) }, "the execution failed");
}
