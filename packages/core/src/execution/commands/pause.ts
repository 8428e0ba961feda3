// Steers an execution from outside: suspends it, or ends it.
import { v7 as uuid } from "uuid";
import { InvalidOptionError, NotCancellableError, NotSuspendableError } from "../../errors/index.ts";
import { executionEvent } from "../../journal/events.ts";
import type { ExecutionRow } from "../../store/store.ts";
import { checkText } from "../../values/check-id.ts";
import type { Engine } from "../engine/engine.ts";
import { type ExecutionSuspension, viewSuspension } from "../stream/views.ts";

export interface SuspendOptions {
  /** Default: "Suspended by request". */
  readonly reason?: string | undefined;
  /** Who suspends; kept in the journal. */
  readonly userId?: string | undefined;
}

export interface CancelOptions {
  /** Kept in the journal. Default: none. */
  readonly reason?: string | undefined;
  /** Who cancels; kept in the journal. */
  readonly userId?: string | undefined;
}

export interface SuspendResult {
  readonly executionId: string;
  readonly status: "suspended";
  readonly suspension: ExecutionSuspension;
}

/** Refuses, before anything is looked up, what could not be kept. */
export function checkSteering({ reason, userId }: SuspendOptions | CancelOptions): void {
  checkText(userId, "userId");
  if (reason !== undefined && typeof reason !== "string") {
    throw new InvalidOptionError({ option: "reason", problem: "expected a text" });
  }
}

/** Pauses an execution at once. A body in flight may finish; nothing new starts. */
export async function pauseExecution(
  engine: Engine,
  execution: ExecutionRow,
  { reason = "Suspended by request", userId }: SuspendOptions,
): Promise<SuspendResult> {
  const { executionId, workflowId } = execution;
  const at = engine.clock.now();
  const pause = { executionId, suspensionId: uuid(), reason, at, userId: userId ?? null };
  const answer = await engine.store.pause(pause);
  if (answer.kind === "refused") throw new NotSuspendableError({ executionId, status: answer.status });
  engine.publish(execution, [answer.event]);
  const driver = await engine.driver(executionId);
  driver?.pause();
  engine.settle(executionId, { kind: "suspended", suspension: answer.suspension });
  const suspension = viewSuspension(engine.workflow(workflowId), answer.suspension);
  return { executionId, status: "suspended", suspension };
}

/** Ends an execution that has not ended yet. */
export async function cancelExecution(
  engine: Engine,
  execution: ExecutionRow,
  { reason, userId }: CancelOptions,
): Promise<void> {
  const { executionId } = execution;
  const event = executionEvent("workflow-cancelled", engine.clock.now(), undefined, { reason, userId });
  const cancel = { executionId, event, status: "cancelled", error: null, due: null } as const;
  const answer = await engine.store.cancel(cancel);
  if (answer.kind === "refused") throw new NotCancellableError({ executionId, status: answer.status });
  await engine.endedOutside(execution, answer.event, "The execution was cancelled");
}
