// A pause as the engine writes it.
import { encodeEvent } from "../journal/codec.ts";
import type { Pause } from "../store/store.ts";

export interface PauseFields {
  readonly suspensionId: string;
  readonly reason?: string;
  readonly at?: number;
  readonly userId?: string;
}

export function pauseOf(executionId: string, fields: PauseFields): Pause {
  const { suspensionId, reason = "", at: suspendedAt = 1, userId } = fields;
  const common = { suspensionId, path: null, reason, suspendedAt };
  return {
    executionId,
    suspension: { ...common, data: null, deadline: null, onDeadline: null },
    event: encodeEvent({
      ...common,
      type: "workflow-suspended",
      timestamp: suspendedAt,
      stepIndex: 0,
      data: undefined,
      deadline: undefined,
      userId,
    }),
  };
}
