// The shown pages of a list of executions, and how changes come into them.
import type { InfiniteData } from "@tanstack/react-query";
import type { ExecutionChange, ExecutionPage, ExecutionSummary } from "./types.ts";

type Pages = InfiniteData<ExecutionPage, string>;

/** Rows that are kept; beyond them the last pages are left out, and read again when one scrolls there. */
export const mostRows = 10_000;

/** The fields of a row in the feed, without reading the list again. */
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
  if (status === row.status) return { ...row, ...fields };
  // They were told of the status before; those of this one come with the next reading.
  const { error: _error, parked: _parked, ...rest } = row;
  return { ...rest, ...fields };
}

/** Known rows in place of the shown ones. */
export function replaceRows(data: Pages, rows: readonly ExecutionSummary[]): Pages {
  const byId = new Map(rows.map((row) => [row.executionId, row]));
  return mapRows(data, (row) => withStep(byId.get(row.executionId) ?? row, row));
}

/**
 * The first page as it is now, in place of the rows that it covers. Rows further down stay, but for those that `status`
 * no longer fits. Where nothing of the page was known there is a gap below it, so that the pages there are left out.
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

/** The list does not tell the step that the feed named last: it stays while the status does. */
function withStep(row: ExecutionSummary, known: ExecutionSummary | undefined): ExecutionSummary {
  if (known?.stepPath === undefined || row === known || row.status !== known.status) return row;
  return { ...row, stepPath: known.stepPath };
}

/** The same pages and rows where nothing is changed, so that nothing is drawn again. */
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
