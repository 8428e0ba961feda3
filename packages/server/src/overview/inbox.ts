// The inbox: every open suspension that a caller may see, of all workflows, the oldest first.
import type { Andante, ExecutionSuspension } from "@andante/core";
import { ExecutionNotFoundError } from "@andante/core/errors";
import { internalsOf } from "@andante/core/internal";

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
  /** More executions wait than were looked at: older ones, which are not here. */
  readonly more: boolean;
}

/** Whose executions, of which workflow, and how many of them are looked at. */
export interface InboxQuery {
  readonly userId?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly limit: number;
}

/** Executions whose suspensions are read at once: each may be megabytes, and the store reads one after the other anyway. */
const together = 8;
/** Characters after which a response ends, and after which no more is read for it: inputs are read with the rest. */
const mostShown = 4_000_000;
const mostRead = 64_000_000;

export async function readInbox(andante: Andante, query: InboxQuery): Promise<Inbox> {
  // Loaded by those who ask: a start needs no examples.
  const { exampleValue } = await import("@andante/core/internal/examples");
  const page = await andante.list({ ...query, status: "suspended" });
  const { executions } = page;
  const items: InboxItem[] = [];
  let [looked, shown, read] = [0, 0, 0];
  const isLong = () => shown >= mostShown || read >= mostRead;
  while (looked < executions.length && !isLong()) {
    const some = executions.slice(looked, looked + together);
    const waiting = await Promise.all(some.map(({ executionId }) => suspensionsOf(andante, executionId)));
    for (const [index, { executionId, workflowId, userId, startAt }] of some.entries()) {
      if (isLong()) break;
      looked += 1;
      const { suspensions = [], length = 0, lengthRead = 0 } = waiting[index] ?? {};
      shown += length;
      read += lengthRead;
      for (const suspension of suspensions)
        items.push({
          ...{ executionId, workflowId, userId, startAt, suspension },
          ...(suspension.resumeSchema && { example: exampleValue(suspension.resumeSchema).value }),
        });
    }
  }
  items.sort((one, other) => one.suspension.suspendedAt.localeCompare(other.suspension.suspendedAt));
  return { items, more: page.nextCursor !== null || looked < executions.length };
}

/** Undefined when it has been deleted since it was listed. */
function suspensionsOf(andante: Andante, executionId: string) {
  return internalsOf(andante)
    .rows.suspensions(executionId)
    .catch((error: unknown) => {
      if (error instanceof ExecutionNotFoundError) return undefined;
      throw error;
    });
}
