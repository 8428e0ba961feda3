// The calls of a reply that wait for approval, as suspensions of its turn: the inbox lists them.
import { createHash } from "node:crypto";
import type { Suspension } from "../../store/store.ts";

/** A call that waits for a person; its texts are JSON. */
export interface ApprovalWait {
  /** The place of its part in the message. */
  readonly place: number;
  readonly approvalId: string;
  readonly reason: string;
  readonly data: string;
  readonly resumeSchema: string;
  /** When it ends by itself, in milliseconds since 1970, and how, as JSON; null for never. */
  readonly deadline: number | null;
  readonly onDeadline: string | null;
}

/** The paths of suspensions begin with the step of a turn and end with the id of the approval request. */
const prefix = "reply#";

/** The path of a tool that waits in its own code, such as `reply#call[0].tool[0].suspend[0]`. */
const toolPath = /^reply#(?:call|start)[[.]/;

/** The id of the approval request that a suspension of a turn is about; null when it is about something else. */
export function approvalIdOf(path: string | null): string | null {
  if (path === null || toolPath.test(path)) return null;
  return path.startsWith(prefix) ? path.slice(prefix.length) : null;
}

interface WaitingReply {
  readonly conversationId: string;
  readonly messageId: string;
  /** Since when they wait, in milliseconds since 1970. */
  readonly at: number;
}

export function suspensionsOf(waits: readonly ApprovalWait[], reply: WaitingReply): readonly Suspension[] {
  if (waits.length === 0) return [];
  const { conversationId, messageId, at } = reply;
  // The same while a call waits, also when a decision about another call of the message opens it anew; in their order.
  const hash = createHash("sha256")
    .update(JSON.stringify([conversationId, messageId]))
    .digest("hex");
  return waits.map(({ place, approvalId, ...wait }) => ({
    ...wait,
    suspensionId: `${hash.slice(0, 32)}-${String(place).padStart(6, "0")}`,
    path: prefix + approvalId,
    stepIndex: 0,
    suspendedAt: at,
  }));
}
