// The selected rows of the list, in their current state.
import type { ExecutionSummary } from "../../api/types.ts";

export type Selection = ReadonlyMap<string, ExecutionSummary>;

export function selectionOf(rows: readonly ExecutionSummary[]): Selection {
  return new Map(rows.map((row) => [row.executionId, row]));
}

/** A row may have changed since it was selected: its current status decides which commands apply. */
export function asTheyStand(selection: Selection, rows: readonly ExecutionSummary[]): ExecutionSummary[] {
  if (selection.size === 0) return [];
  const now = new Map(rows.map((row) => [row.executionId, row]));
  return [...selection.values()].map((row) => now.get(row.executionId) ?? row);
}
