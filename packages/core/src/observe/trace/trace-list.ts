// The list of traces: executions from their rows, and traces with a row of their own, such as calls of agents.
//
// An execution's row has all that a list shows of its trace. A row beside it, with four indexes, took a sixteenth of
// the database thread's time for an execution of one step.
import type { StoredTrace, TraceQuery, TraceRoot } from "../../store/observation-store.ts";
import { isExecutionStatus, type ListedExecution, type ListQuery, type Store } from "../../store/store.ts";
import { callerPageLength, textLength } from "../../store/text-length.ts";
import type { Clock } from "../../values/clock.ts";
import { idPrefixOf, TraceIds } from "./trace-ids.ts";

/** A place in the list: the start of a trace, then the executionId or, where it has a row of its own, the root span. */
export type TracePlace = readonly [startAt: number, key: string];

interface Listed {
  readonly root: TraceRoot;
  readonly place: TracePlace;
}

/** Rows of one kind, newest first; `whole` when no older ones are left. */
interface Part {
  readonly rows: readonly Listed[];
  readonly whole: boolean;
}

/** Executions that are read at a time to find those of a trace. */
const candidates = 500;
/** The most of them that are read of one trace. */
export const maxRoots = 1000;

export class TraceList {
  readonly #store: Store;
  readonly #maxAge: number;
  readonly #clock: Pick<Clock, "now">;

  /** `maxAge`: how long a trace is kept, in milliseconds, by the clock that gives executions their times. */
  constructor(store: Store, maxAge: number, clock: Pick<Clock, "now">) {
    this.#store = store;
    this.#maxAge = maxAge;
    this.#clock = clock;
  }

  /** Traces after a place, newest first, and the place of the last one where others may follow. */
  async page(
    filter: Omit<TraceQuery, "before" | "limit" | "length">,
    before: TracePlace | undefined,
    limit: number,
  ): Promise<{ readonly page: readonly TraceRoot[]; readonly more: TracePlace | undefined }> {
    const roots = await this.#roots(filter, before, limit + 1);
    // Older executions than the last of these are not on this page: those that are not traced are not walked for nothing.
    const last = roots.whole ? undefined : roots.rows.at(-1);
    const from = Math.max(filter.from ?? 0, this.#oldest(), last?.place[0] ?? 0);
    const executions = await this.#executions({ ...filter, from }, before, limit + 1);
    const rows = [...upTo(roots, executions), ...upTo(executions, roots)].sort(newestFirst);
    const page = rows.slice(0, limit);
    const isLast = rows.length <= limit && roots.whole && executions.whole;
    return { page: page.map(({ root }) => root), more: isLast ? undefined : page.at(-1)?.place };
  }

  /**
   * The roots of a trace, in the order in which they began, and the spans that no journal holds. Of executions those of
   * `userId` alone, where it is given: anyone may name any trace. Throws when `signal` is aborted between two pages.
   */
  async trace(traceId: string, userId?: string, signal?: AbortSignal): Promise<StoredTrace> {
    const [stored, named, derived] = await Promise.all([
      this.#store.observations.trace(traceId),
      this.#store.list({ traceId, userId, from: this.#oldest(), limit: maxRoots }),
      this.#ofIds(traceId, signal),
    ]);
    const executions = [...named, ...derived].map((row) => rootOf(row));
    const roots = [...stored.roots, ...executions].sort((a, b) => a.startAt - b.startAt);
    return { roots: roots.slice(0, maxRoots), chunks: stored.chunks };
  }

  #oldest(): number {
    return this.#clock.now() - this.#maxAge;
  }

  async #roots(
    query: Omit<TraceQuery, "limit">,
    before: TracePlace | undefined,
    limit: number,
  ): Promise<Part> {
    const place = before && { startAt: before[0], rootSpanId: before[1] };
    const length = callerPageLength;
    const roots = await this.#store.observations.traces({ ...query, before: place, limit, length });
    const rows = roots.map((root): Listed => ({ root, place: [root.startAt, root.rootSpanId] }));
    return { rows, whole: roots.length < limit && textLength(roots) < length };
  }

  async #executions(
    query: Omit<TraceQuery, "limit">,
    before: TracePlace | undefined,
    limit: number,
  ): Promise<Part> {
    const filter = filterOf(query);
    if (filter === undefined) return { rows: [], whole: true };
    const place = before && { startAt: before[0], executionId: before[1] };
    const length = callerPageLength;
    const found = await this.#store.list({ ...filter, traced: true, before: place, limit, length });
    const rows = found.map((row): Listed => ({ root: rootOf(row), place: [row.startAt, row.executionId] }));
    return { rows, whole: found.length < limit && textLength(found) < length };
  }

  /** The executions whose ids lead to this trace: they began in the same millisecond, so there are few to look at. */
  async #ofIds(traceId: string, signal: AbortSignal | undefined): Promise<readonly ListedExecution[]> {
    const idPrefix = idPrefixOf(traceId);
    if (idPrefix === undefined) return [];
    const found: ListedExecution[] = [];
    let before: ListQuery["before"];
    for (;;) {
      signal?.throwIfAborted();
      const query = { idPrefix, traced: true, from: this.#oldest(), before, limit: candidates } as const;
      const rows = await this.#store.list(query);
      found.push(...rows.filter((row) => row.trace === "" && rootOf(row).traceId === traceId));
      const last = rows.at(-1);
      if (last === undefined || (rows.length < candidates && textLength(rows) < callerPageLength))
        return found;
      before = last;
    }
  }
}

/** The same filter for executions; undefined when none can match. */
function filterOf({ entityType, entityId, status, ...rest }: Omit<TraceQuery, "limit">) {
  if (entityType === "agent") return undefined;
  if (status === undefined) return { ...rest, workflowId: entityId };
  return isExecutionStatus(status) ? { ...rest, workflowId: entityId, status } : undefined;
}

/** The entry of an execution in the list. */
function rootOf(row: ListedExecution): TraceRoot {
  const { executionId, workflowId, userId, conversationId, startAt, endAt, status, trace } = row;
  const ids = new TraceIds(executionId, undefined);
  return {
    traceId: trace || ids.traceId,
    rootSpanId: ids.spanId(1),
    entityType: "workflow",
    entityId: workflowId,
    executionId,
    userId,
    conversationId,
    startAt,
    endAt,
    status,
  };
}

/** The rows of a part that are not older than the last row of the other part. */
function upTo({ rows }: Part, other: Part): readonly Listed[] {
  const last = other.rows.at(-1);
  if (other.whole || last === undefined) return rows;
  return rows.filter((row) => newestFirst(row, last) <= 0);
}

function newestFirst({ place: [a, first] }: Listed, { place: [b, second] }: Listed): number {
  if (a !== b) return b - a;
  return first < second ? 1 : first > second ? -1 : 0;
}
