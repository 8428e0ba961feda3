// The loaded pages of a list of executions, and how changes are merged into them.
import type { ExecutionChange } from "@andante/client";
import type { InfiniteData } from "@tanstack/react-query";
import type { ExecutionPage, ExecutionSummary } from "./types.ts";

type Pages = InfiniteData<ExecutionPage, string>;

/** Maximum rows in memory; beyond it the last pages are dropped, and loaded again on scrolling. */
export const mostRows = 10_000;

/** Applies changes from the feed to the rows, without reading the list again. */
export function patchRows(data: Pages, changes: ReadonlyMap<string, ExecutionChange>): Pages {
  return mapRows(data, (row) => {
    const change = changes.get(row.executionId);
    return change === undefined ? row : patched(row, change);
  });
}

function patched(row: ExecutionSummary, change: ExecutionChange): ExecutionSummary {
  const { stepPath = row.stepPath } = change;
  const { status = row.status } = change;
  const isOver = status !== "running" && status !== "suspended";
  const fields = { status, endAt: isOver ? change.timestamp : null, ...(stepPath && { stepPath }) };
  // It does not wait for the same any more; the next read has the new explanation.
  const { explanation: _explanation, ...same } = row;
  if (status === row.status) return { ...same, ...fields };
  // These fields belong to the previous status; the next read brings those of the new one.
  const { error: _error, parked: _parked, ...rest } = same;
  return { ...rest, ...fields };
}

/** Replaces shown rows with newly read ones. */
export function replaceRows(data: Pages, rows: readonly ExecutionSummary[]): Pages {
  const byId = new Map(rows.map((row) => [row.executionId, row]));
  return mapRows(data, (row) => withStep(byId.get(row.executionId) ?? row, row));
}

/**
 * Replaces the rows that the new first page covers. Rows further down stay, except those that no longer match `status`.
 * Where no row of the page was known there is a gap below it, so the pages below are dropped.
 */
export function mergeFirstPage(data: Pages | undefined, first: ExecutionPage, status?: string): Pages {
  const shown = data?.pages.flatMap(({ executions }) => executions) ?? [];
  const known = new Map(shown.map((row) => [row.executionId, row]));
  const top = first.executions.map((row) => withStep(row, known.get(row.executionId)));
  const inFirst = new Set(top.map(({ executionId }) => executionId));
  const covered = shown.findLastIndex(({ executionId }) => inFirst.has(executionId));
  if (data === undefined || data.pages.length < 2 || covered < 0 || first.nextCursor === null)
    return { pages: [{ ...first, executions: top }], pageParams: [""] };
  const isLeft = new Set(
    shown.slice(covered + 1).filter((row) => status === undefined || row.status === status),
  );
  const pages = data.pages.map((page, index) => ({
    ...page,
    executions: [...(index === 0 ? top : []), ...page.executions.filter((row) => isLeft.has(row))],
  }));
  return capped({ pages, pageParams: data.pageParams });
}

function capped({ pages, pageParams }: Pages): Pages {
  let rows = pages.reduce((sum, { executions }) => sum + executions.length, 0);
  let kept = pages.length;
  while (kept > 1 && rows > mostRows) {
    kept -= 1;
    rows -= pages[kept]?.executions.length ?? 0;
  }
  return { pages: pages.slice(0, kept), pageParams: pageParams.slice(0, kept) };
}

/** Keeps the step from the feed, which the list does not contain, while the status is unchanged. */
function withStep(row: ExecutionSummary, known: ExecutionSummary | undefined): ExecutionSummary {
  if (known?.stepPath === undefined || row === known || row.status !== known.status) return row;
  return { ...row, stepPath: known.stepPath };
}

/** Returns the same objects for unchanged pages and rows, so that they are not rendered again. */
function mapRows(data: Pages, change: (row: ExecutionSummary) => ExecutionSummary): Pages {
  let touched = false;
  const pages = data.pages.map((page) => {
    const executions = page.executions.map(change);
    if (executions.every((row, index) => row === page.executions[index])) return page;
    touched = true;
    return { ...page, executions };
  });
  return touched ? { ...data, pages } : data;
}
