// The log line about bodies that still run after the grace period: the process stops without them.
import type { Logger } from "../../observe/log/logger.ts";

interface RunningExecution {
  readonly workflowId: string;
  readonly executionId: string;
  readonly isRunning: boolean;
}

/** At most this many are named. */
const maxNamed = 20;

export function reportBodies(logger: Logger, loaded: Iterable<RunningExecution>): void {
  const running = [...loaded].filter(({ isRunning }) => isRunning);
  if (running.length === 0) return;
  const named = running.slice(0, maxNamed);
  const executions = named.map(({ workflowId, executionId }) => ({ workflowId, executionId }));
  logger.warn(
    { executions, count: running.length },
    "closing without waiting longer for bodies that run: they run again at the next start",
  );
}
