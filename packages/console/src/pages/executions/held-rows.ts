// The rows of a live list that stay in place while the pointer is over them.
import type { ExecutionSummary } from "../../api/types.ts";

/**
 * The held rows in their order and current state, and the older rows below them, which scrolling loads. `held` is undefined
 * when the list moves freely. `waiting` is the number of rows that are not shown yet.
 */
export function heldRows(
  held: readonly ExecutionSummary[] | undefined,
  now: readonly ExecutionSummary[],
): { readonly rows: readonly ExecutionSummary[]; readonly waiting: number } {
  if (held === undefined || held.length === 0) return { rows: now, waiting: 0 };
  const ids = new Set(held.map(({ executionId }) => executionId));
  const current = new Map(now.map((row) => [row.executionId, row]));
  const last = now.findLastIndex(({ executionId }) => ids.has(executionId));
  const older = last < 0 ? [] : now.slice(last + 1);
  const waiting = now.filter(({ executionId }) => !ids.has(executionId)).length - older.length;
  return { rows: [...held.map((row) => current.get(row.executionId) ?? row), ...older], waiting };
}
