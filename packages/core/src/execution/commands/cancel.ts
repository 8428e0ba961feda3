// Cancels an execution: ends it from outside.
import { randomUUID } from "node:crypto";
import { NotCancellableError } from "../../errors/index.ts";
import { decodeEvent, encodeEvent } from "../../journal/codec.ts";
import type { WorkflowCancelledEvent } from "../../journal/events.ts";
import type { NoteWork } from "../../store/signal-store.ts";
import type { ExecutionRow } from "../../store/store.ts";
import { type EndParts, endedOutside } from "../engine/ended-outside.ts";
import type { Engine } from "../engine/engine.ts";
import { type WriteCancelParts, writeCancel } from "../engine/write-cancel.ts";

export interface CancelOptions {
  /** Kept in the journal. Default: none. */
  readonly reason?: string | undefined;
  /** Who cancels; kept in the journal. Default: unknown. */
  readonly userId?: string | undefined;
}

/** Ends an execution that has not ended yet. */
export async function cancelExecution(
  engine: EndParts & WriteCancelParts & Pick<Engine, "clock">,
  execution: ExecutionRow,
  { reason, userId }: CancelOptions,
  note?: NoteWork,
): Promise<void> {
  const { executionId } = execution;
  const event: WorkflowCancelledEvent = {
    type: "workflow-cancelled",
    timestamp: engine.clock.now(),
    reason,
    userId,
    suspensionId: undefined,
  };
  const result = await writeCancel(engine, execution, {
    key: randomUUID(),
    event: encodeEvent(event),
    status: "cancelled",
    error: null,
    due: null,
    ...(note && { note }),
  });
  if (result.kind === "refused") throw new NotCancellableError({ executionId, status: result.status });
  await endedOutside(engine, execution, decodeEvent(result.event), "The execution was cancelled");
}
