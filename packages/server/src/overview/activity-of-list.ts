// Counts of executions, read from their list. Counts only the newest `most`.
import type { Andante, ListOptions } from "@andante/core";
import { bucketOf, noDuration } from "@andante/core/internal";
import type { RollupTotal } from "@andante/core/store";

type Page = Awaited<ReturnType<Andante["list"]>>;
type ListedExecution = Page["executions"][number];
type Kind = RollupTotal["kind"];

/** A set of executions. */
export interface ActivityPart {
  /** Only this user's executions. Default: all users'. */
  readonly userId?: string | undefined;
  /** Only executions of these workflows. Default: of all. */
  readonly workflowIds?: readonly string[] | undefined;
}

/** The start of an execution, or its current status. */
export interface ListedCount {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly workflowId: string;
  readonly kind: Kind;
  readonly bucket: number;
  readonly count: number;
}

export interface ListedCounts {
  readonly counts: readonly ListedCount[];
  /** False when the limit was reached: then the oldest executions are missing. */
  readonly complete: boolean;
}

/** Maximum executions that are counted: about 100 ms of a reader thread. */
const most = 10_000;
const pageSize = 500;

/** The pages of a list until `most` executions are read. Throws when `signal` is aborted. */
async function* pagesOfList(
  andante: Andante,
  query: Omit<ListOptions, "cursor" | "limit">,
  most: number,
  signal: AbortSignal,
): AsyncGenerator<Page, undefined> {
  let cursor: string | undefined;
  let read = 0;
  do {
    signal.throwIfAborted();
    const page = await andante.list({ ...query, cursor, limit: Math.min(pageSize, most - read) });
    read += page.executions.length;
    yield page;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && read < most);
}

/** Throws when `signal` is aborted. */
export async function countsOfList(
  andante: Andante,
  { userId, workflowIds }: ActivityPart,
  span: { readonly from: Date; readonly to: Date },
  signal: AbortSignal,
): Promise<ListedCounts> {
  const workflowId = workflowIds?.length === 1 ? workflowIds[0] : undefined;
  const counts: ListedCount[] = [];
  let complete = true;
  for await (const page of pagesOfList(andante, { ...span, userId, workflowId }, most, signal)) {
    const some = page.executions.filter((each) => workflowIds?.includes(each.workflowId) ?? true);
    counts.push(...some.flatMap(countsOf));
    complete = page.nextCursor === null;
  }
  return { counts, complete };
}

const kinds: Readonly<Partial<Record<ListedExecution["status"], Kind>>> = {
  completed: "completed",
  error: "failed",
  suspended: "suspended",
  cancelled: "cancelled",
};

function countsOf({ workflowId, startAt, endAt, status }: ListedExecution): readonly ListedCount[] {
  const start = Date.parse(startAt);
  const started = { at: start, workflowId, kind: "started", bucket: noDuration, count: 1 } as const;
  const kind = kinds[status];
  if (kind === undefined) return [started];
  // A waiting execution is counted at its start: the list does not have the time when it began to wait.
  const end = endAt === null ? start : Date.parse(endAt);
  const bucket = endAt === null ? noDuration : bucketOf(end - start);
  return [started, { at: end, workflowId, kind, bucket, count: 1 }];
}
