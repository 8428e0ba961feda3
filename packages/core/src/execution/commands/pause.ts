// Pauses an execution: suspends it from outside.

import { InvalidOptionError, NotSuspendableError } from "../../errors/index.ts";
import { decodeEvent, encodeEvent } from "../../journal/codec.ts";
import type { ExecutionRow } from "../../store/store.ts";
import { checkId } from "../../values/check-id.ts";
import { uuid } from "../../values/uuid.ts";
import type { Engine } from "../engine/engine.ts";
import { checkSize, type SizeLimits } from "../limits/limits.ts";
import { workflowSuspendedEvent } from "../run/step-events.ts";
import { type ExecutionSuspension, viewSuspension } from "../stream/views.ts";

export interface SuspendOptions {
  /** Default: "Suspended by request". */
  readonly reason?: string | undefined;
  /** Who suspends; kept in the journal. */
  readonly userId?: string | undefined;
}

export interface SuspendResult {
  readonly executionId: string;
  readonly status: "suspended";
  readonly suspension: ExecutionSuspension;
}

/** Refuses invalid options before any look-up. */
export function checkReason({ reason, userId }: SuspendOptions, limits: SizeLimits): void {
  checkId(userId, "userId");
  if (reason !== undefined && typeof reason !== "string") {
    throw new InvalidOptionError({ option: "reason", problem: "expected a string" });
  }
  checkSize(limits, "reason", reason, "Reason");
}

/** The parts of the engine that a pause uses. */
type PauseParts = Pick<Engine, "store" | "clock" | "publish" | "driver" | "waiters" | "workflow">;

/** Pauses an execution at once. A body in flight may finish; nothing new starts. */
export async function pauseExecution(
  engine: PauseParts,
  execution: ExecutionRow,
  { reason = "Suspended by request", userId }: SuspendOptions,
): Promise<SuspendResult> {
  const { executionId, workflowId } = execution;
  const suspension = {
    suspensionId: uuid(),
    path: null,
    reason,
    data: null,
    suspendedAt: engine.clock.now(),
    deadline: null,
    onDeadline: null,
  };
  const event = encodeEvent(workflowSuspendedEvent(suspension, execution.stepIndex, userId));
  const result = await engine.store.pause({ executionId, suspension, event });
  if (result.kind === "refused") throw new NotSuspendableError({ executionId, status: result.status });
  engine.publish(execution, [decodeEvent(result.event)]);
  const driver = await engine.driver(executionId);
  driver?.pause(result.event);
  engine.waiters.settle(executionId, { kind: "suspended", suspension: result.suspension });
  const view = viewSuspension(engine.workflow(workflowId), result.suspension);
  return { executionId, status: "suspended", suspension: view };
}
