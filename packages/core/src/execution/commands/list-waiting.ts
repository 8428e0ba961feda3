// Lists open suspensions of all workflows and chats, the oldest first, a page at a time.
import { approvalIdOf } from "../../agent/turn/approval-waits.ts";
import { isTimeAndId, readCursor, writeCursor } from "../../store/cursor.ts";
import type { Store } from "../../store/store.ts";
import { callerPageLength, cutPage } from "../../store/text-length.ts";
import { isoTime } from "../../values/iso-time.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { type ExecutionSuspension, viewSuspension } from "../stream/views.ts";

export interface WaitingOptions {
  readonly workflowId?: string | undefined;
  readonly userId?: string | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface WaitingItem {
  readonly executionId: string;
  /** "" for a tool call of a chat. */
  readonly workflowId: string;
  /** The agent of a chat; null for a workflow. */
  readonly agentId: string | null;
  /** The approval request of a chat: decided with `agents.decide`. Null for a workflow. */
  readonly approvalId: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly startAt: string;
  readonly suspension: ExecutionSuspension;
}

export interface WaitingPage {
  readonly items: readonly WaitingItem[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface WaitingSources {
  readonly store: Pick<Store, "waiting">;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
}

export async function listWaiting(
  { store, workflows }: WaitingSources,
  { cursor, limit, ...filters }: WaitingOptions,
): Promise<WaitingPage> {
  const place = cursor === undefined ? undefined : readCursor(cursor, isTimeAndId);
  const after = place && { suspendedAt: place[0], suspensionId: place[1] };
  const length = callerPageLength;
  const rows = await store.waiting({ ...filters, after, limit: limit + 1, length });
  const { page, more } = cutPage(rows, limit, length);
  return {
    items: page.map((each) => ({
      ...each,
      approvalId: each.agentId === null ? null : approvalIdOf(each.suspension.path),
      startAt: isoTime(each.startAt),
      suspension: viewSuspension(workflows.get(each.workflowId), each.suspension),
    })),
    nextCursor:
      more === undefined ? null : writeCursor(more.suspension.suspendedAt, more.suspension.suspensionId),
  };
}
