// The inbox: every open suspension that a caller may see, of all workflows, the oldest first, a page at a time.
import type { Andante, ExecutionSuspension } from "@andante/core";
import { internalsOf } from "@andante/core/internal";

/** An open suspension with the execution that waits there. */
export interface InboxItem {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | null;
  /** For the questions to `authorize`; responses do not have it. */
  readonly conversationId: string | null;
  readonly startAt: string;
  readonly suspension: ExecutionSuspension;
  /** Resume data that fits the suspension's schema; absent where there is no schema. */
  readonly example?: unknown;
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  /** More wait than are on this page. */
  readonly more: boolean;
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** Whose executions, of which workflow, and how many suspensions. */
export interface InboxQuery {
  readonly userId?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export async function readInbox(andante: Andante, query: InboxQuery): Promise<Inbox> {
  // Loaded by those who ask: a start needs no examples.
  const { exampleValue } = await import("@andante/core/internal/examples");
  await andante.ready();
  const { items, nextCursor } = await internalsOf(andante).live.waiting(query);
  return {
    items: items.map((item) => {
      const schema = item.suspension.resumeSchema;
      return { ...item, ...(schema && { example: exampleValue(schema).value }) };
    }),
    more: nextCursor !== null,
    nextCursor,
  };
}
