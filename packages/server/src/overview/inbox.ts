// The inbox: every open suspension that a caller may see, of all workflows, the oldest first.
import type { Andante, ExecutionSuspension } from "@andante/core";

/** An open suspension with the execution that waits there. */
export interface InboxItem {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | null;
  readonly startAt: string;
  readonly suspension: ExecutionSuspension;
  /** Resume data that fits the suspension's schema; absent where there is no schema. */
  readonly example?: unknown;
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  /** More executions wait than were looked at: the newest of them are not here. */
  readonly more: boolean;
}

/** Whose executions, of which workflow, and how many of them are looked at. */
export interface InboxQuery {
  readonly userId?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly limit: number;
}

/** Executions whose suspensions are read at once: a reader thread does one after the other anyway. */
const together = 25;

export async function readInbox(andante: Andante, query: InboxQuery): Promise<Inbox> {
  // Loaded by those who ask: a start needs no examples.
  const { exampleValue } = await import("@andante/core/internal/examples");
  const page = await andante.list({ ...query, status: "suspended" });
  const items: InboxItem[] = [];
  for (let first = 0; first < page.executions.length; first += together) {
    const some = page.executions.slice(first, first + together);
    const read = some.map(async ({ executionId, workflowId, userId, startAt }) => {
      // It may have been deleted since it was listed.
      const state = await andante.find(executionId).catch(() => undefined);
      return (state?.suspensions ?? []).map((suspension) => ({
        ...{ executionId, workflowId, userId, startAt, suspension },
        ...(suspension.resumeSchema && { example: exampleValue(suspension.resumeSchema).value }),
      }));
    });
    items.push(...(await Promise.all(read)).flat());
  }
  items.sort((one, other) => one.suspension.suspendedAt.localeCompare(other.suspension.suspendedAt));
  return { items, more: page.nextCursor !== null };
}
