// The inbox: the open suspensions of all workflows that a caller may see, oldest first, in pages.
import type { Andante, ExecutionSuspension } from "@andante/core";

/** An open suspension with its execution. */
export interface InboxItem {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | null;
  /** For calls of `authorize`; not in responses. */
  readonly conversationId: string | null;
  readonly startAt: string;
  readonly suspension: ExecutionSuspension;
  /** Resume data that fits the suspension's schema; absent where there is no schema. */
  readonly example?: unknown;
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  /** Whether further pages follow. */
  readonly more: boolean;
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** The filter by user and workflow, and the page. */
export interface InboxQuery {
  readonly userId?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export async function readInbox(andante: Andante, query: InboxQuery): Promise<Inbox> {
  // Loaded on demand: a start needs no examples.
  const { exampleValue } = await import("@andante/core/internal/examples");
  await andante.ready();
  const { items, nextCursor } = await andante.live.waiting(query);
  return {
    items: items.map((item) => {
      const schema = item.suspension.resumeSchema;
      return { ...item, ...(schema && { example: exampleValue(schema).value }) };
    }),
    more: nextCursor !== null,
    nextCursor,
  };
}
