// Sums up counts: of executions over time, or of executions or steps over a whole range.
import type { DatabaseSync } from "node:sqlite";
import {
  isRollupKind,
  type RollupKind,
  type RollupPoint,
  type RollupRange,
  type RollupTotal,
} from "../../../rollup-store.ts";
import { integer, type Row, text } from "../../columns.ts";
import { Where } from "../observations/where.ts";

export function rollupsOverTime(database: DatabaseSync) {
  return (query: RollupRange & { readonly width: number }): RollupPoint[] => {
    const where = within(0, query);
    const rows = database
      .prepare(
        // A number is bound as a real one, and would be divided as such.
        `select (minute - cast(? as integer)) / cast(? as integer) as point, kind, bucket, sum(count) as count from rollups ${where}
         group by point, kind, bucket`,
      )
      .all(query.from, query.width, ...where.values);
    return rows.map((row) => ({
      index: integer(row, "point"),
      kind: kindOf(row),
      bucket: integer(row, "bucket"),
      count: integer(row, "count"),
    }));
  };
}

export function rollupTotals(database: DatabaseSync) {
  return (query: RollupRange & { readonly of: "executions" | "steps" }): RollupTotal[] => {
    const where = within(query.of === "steps" ? 1 : 0, query);
    const rows = database
      .prepare(
        `select workflow_id, step, kind, bucket, sum(count) as count from rollups ${where}
         group by workflow_id, step, kind, bucket`,
      )
      .all(...where.values);
    return rows.map((row) => ({
      workflowId: text(row, "workflow_id"),
      step: text(row, "step"),
      kind: kindOf(row),
      bucket: integer(row, "bucket"),
      count: integer(row, "count"),
    }));
  };
}

function within(steps: 0 | 1, { from, to, workflowId }: RollupRange): Where {
  return new Where()
    .add("steps = ?", steps)
    .add("minute >= ?", from)
    .add("minute < ?", to)
    .add("workflow_id = ?", workflowId);
}

function kindOf(row: Row): RollupKind {
  const kind = text(row, "kind");
  if (!isRollupKind(kind)) throw new TypeError(`unknown kind ${kind}`);
  return kind;
}
