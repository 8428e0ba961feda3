// Sums up usage by one part of its key.
import type { DatabaseSync } from "node:sqlite";
import { toUsageTotal, usageColumnOf, usageCountColumns, usageOrder } from "../../../sql/usage-rows.ts";
import type { UsageQuery, UsageTotal } from "../../../usage-store.ts";
import { Where } from "../observations/where.ts";

export function usageTotals(database: DatabaseSync) {
  return ({ by, from, to, limit, offset, rows: most, ...filters }: UsageQuery): UsageTotal[] => {
    const where = new Where()
      .add("day >= ?", from)
      .add("day < ?", to)
      .add("user_id = ?", filters.userId)
      .add("agent_id = ?", filters.agentId);
    // No index has these.
    const later = new Where().add("workflow_id = ?", filters.workflowId).add("model = ?", filters.model);
    // As floats: money of a currency of large numbers is above 2^53 billionths soon, which cannot be read as an integer.
    const sums = usageCountColumns.map((column) => `total(${column}) as ${column}`);
    const rows = database
      .prepare(
        `select * from (select ${usageColumnOf[by]} as of, ${sums.join(", ")} from
           (select * from usage ${where} order by day desc limit ?) ${later} group by of)
         order by ${usageOrder(by)} limit ? offset ?`,
      )
      .all(...where.values, most, ...later.values, limit, offset);
    return rows.map(toUsageTotal);
  };
}
