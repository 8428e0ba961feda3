// Sums up counts: of executions over time, or of executions or steps over a whole range.
import type { DatabaseSync } from "node:sqlite";
import type { RollupPoint, RollupRange, RollupTotal } from "../../../rollup-store.ts";
import { toPoint, toTotal } from "../../../sql/rollup-rows.ts";
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
    return rows.map(toPoint);
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
    return rows.map(toTotal);
  };
}

function within(steps: 0 | 1, { from, to, workflowId }: RollupRange): Where {
  return new Where()
    .add("steps = ?", steps)
    .add("minute >= ?", from)
    .add("minute < ?", to)
    .add("workflow_id = ?", workflowId);
}
