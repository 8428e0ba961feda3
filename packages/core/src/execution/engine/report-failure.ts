// The line about an execution that failed: the one error line that operators search for, however it failed.
import type { JournalEvent } from "../../journal/events.ts";
import { causeOf, origin } from "../../journal/failure.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { type LoggedExecution, logFields } from "./log-fields.ts";

interface ReportSources {
  readonly logger: Logger;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
}

/** Does nothing unless the last of these events is a failure. `stepIndex`: the top-level step that it has reached. */
export function reportFailure(
  { logger, workflows }: ReportSources,
  execution: LoggedExecution,
  events: readonly JournalEvent[],
  stepIndex: number | undefined,
): void {
  const last = events.at(-1);
  if (last?.type !== "workflow-error") return;
  const failure = last.error;
  const { workflowId } = execution;
  // A failure without a step (a timeout of the execution, a limit) is logged with the step that was reached.
  const reached = stepIndex === undefined ? undefined : workflows.get(workflowId)?.steps[stepIndex]?.id;
  const stepPath = failure.step ?? reached;
  const attempt = failure[origin]?.attempt;
  const where = {
    ...(stepPath !== undefined && { stepPath }),
    ...(attempt !== undefined && { attempt }),
  };
  logger.error({ ...logFields(execution), ...where, err: causeOf(failure) }, "the execution failed");
}
