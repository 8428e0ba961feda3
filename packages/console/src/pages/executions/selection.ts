// The selected rows of the list, in their current state.
import type { ExecutionSummary } from "../../api/types.ts";

export type Selection = ReadonlyMap<string, ExecutionSummary>;

export function selectionOf(rows: readonly ExecutionSummary[]): Selection {
  return new Map(rows.map((row) => [row.executionId, row]));
}

/**
 * The selection after a click on the row `to`: the rows from `from` to it become selected, or unselected when it was selected.
 */
export function withRange(
  selection: Selection,
  rows: readonly ExecutionSummary[],
  from: string,
  to: string,
): Selection {
  const indexOf = (id: string) => rows.findIndex(({ executionId }) => executionId === id);
  const [end, start] = [indexOf(to), indexOf(from)];
  // The first row may be out of the list meanwhile.
  const [first, last] = start < 0 ? [end, end] : [Math.min(start, end), Math.max(start, end)];
  const next = new Map(selection);
  const isRemoved = selection.has(to);
  for (const row of rows.slice(first, last + 1)) {
    if (isRemoved) next.delete(row.executionId);
    else next.set(row.executionId, row);
  }
  return next;
}

/** A row may have changed since it was selected: its current status decides which commands apply. */
export function asTheyStand(selection: Selection, rows: readonly ExecutionSummary[]): ExecutionSummary[] {
  if (selection.size === 0) return [];
  const now = new Map(rows.map((row) => [row.executionId, row]));
  return [...selection.values()].map((row) => now.get(row.executionId) ?? row);
}
