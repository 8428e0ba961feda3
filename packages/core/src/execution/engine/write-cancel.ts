// Writes the end of an execution from outside, with the deliveries of that end.
import type { Cancel, CancelResult, ExecutionRow } from "../../store/store.ts";
import type { Engine } from "./engine.ts";

export type WriteCancelParts = Pick<Engine, "store" | "outbox" | "scheduleWakeup">;

export async function writeCancel(
  engine: WriteCancelParts,
  execution: Pick<ExecutionRow, "executionId" | "workflowId" | "userId" | "startAt">,
  cancel: Omit<Cancel, "deliveries" | "executionId">,
): Promise<CancelResult> {
  const { executionId, workflowId } = execution;
  const { status, error, event } = cancel;
  const end = { status, error, at: event.timestamp, result: null };
  // A turn of a chat has no workflow, and no endpoint.
  const deliveries = workflowId === "" ? undefined : engine.outbox?.ofEnd(execution, end);
  const result = await engine.store.cancel({ executionId, ...cancel, ...(deliveries && { deliveries }) });
  if (deliveries !== undefined && result.kind === "cancelled") engine.scheduleWakeup(end.at, "limit");
  return result;
}
