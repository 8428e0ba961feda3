// Lists executions, newest first, a page at a time. A page ends with a cursor that stays valid while new ones arrive.

import { InvalidOptionError } from "../../errors/index.ts";
import { isTimeAndId, readCursor, writeCursor } from "../../store/cursor.ts";
import type { ExecutionStatus, ListedExecution, Store } from "../../store/store.ts";
import { callerPageLength, cutPage } from "../../store/text-length.ts";
import { type ExecutionSummary, viewSummary } from "../stream/views.ts";

export interface ListOptions {
  readonly workflowId?: string | undefined;
  readonly status?: ExecutionStatus | undefined;
  readonly userId?: string | undefined;
  /** Marked with this tag. */
  readonly tag?: string | undefined;
  /** Ids that begin with this. */
  readonly idPrefix?: string | undefined;
  /** Replays of this execution. */
  readonly replayOf?: string | undefined;
  /** True: only those that no process may run. Default: false. */
  readonly parked?: boolean | undefined;
  /** Started at this time or later. */
  readonly from?: Date | undefined;
  /** Started before this time. */
  readonly to?: Date | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Default: 50; at most 500. A page of long rows ends earlier. */
  readonly limit?: number | undefined;
  /** Add to each open row the reason why it waits; at most 100 of a page. Default: false. */
  readonly explain?: boolean | undefined;
}

export interface ExecutionPage {
  readonly executions: readonly ExecutionSummary[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

type Explain = (
  rows: readonly ListedExecution[],
) => Promise<ReadonlyMap<string, ExecutionSummary["explanation"]>>;

/** `explainRows` finds the explanations for `options.explain`. */
export async function listExecutions(
  store: Store,
  options: ListOptions,
  explainRows?: Explain,
): Promise<ExecutionPage> {
  const { cursor, limit = 50, from, to, explain = false, ...filters } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
    throw new InvalidOptionError({ option: "limit", problem: "expected a whole number from 1 to 500" });
  }
  const before = cursor === undefined ? undefined : placeOf(cursor);
  const query = { ...filters, from: from?.getTime(), to: to?.getTime(), before, limit: limit + 1 };
  const length = callerPageLength;
  const { page, more } = cutPage(await store.list({ ...query, length }), limit, length);
  const explained = explain ? await explainRows?.(page) : undefined;
  return {
    executions: page.map((row) => viewSummary(row, explained?.get(row.executionId))),
    nextCursor: more === undefined ? null : writeCursor(more.startAt, more.executionId),
  };
}

function placeOf(cursor: string): { startAt: number; executionId: string } {
  const [startAt, executionId] = readCursor(cursor, isTimeAndId);
  return { startAt, executionId };
}
