// Usage of models: every shard has rows of its commits, the log object those of calls without a commit.
import { toUsageTotal, usageCountColumns, usageOrder } from "@andante/core/internal";
import { type UsageStore, usageFields } from "@andante/core/store";
import type { Shards } from "../client/shards.ts";
import { usageColumns } from "../engine/usage.ts";
import { compared, isText, number, textIn } from "./sql.ts";

const day = number(usageColumns.day);
const sums = usageFields.map(
  (name, place) => `sum(${number(usageColumns[name])}) as ${usageCountColumns[place]}`,
);

export function usageOperations(shards: Shards): UsageStore {
  const objects = [...shards.all(), shards.log];
  return {
    add: (batch) => shards.write(shards.log, "addUsage", batch),
    totals: async ({ by, from, to, limit, offset, rows: _, ...filters }) => {
      const conditions = [
        compared(day, ">=", from),
        compared(day, "<", to),
        isText(usageColumns.userId, filters.userId),
        isText(usageColumns.agentId, filters.agentId),
        isText(usageColumns.workflowId, filters.workflowId),
        isText(usageColumns.model, filters.model),
      ];
      const place = by === "day" ? day : usageColumns[by];
      const order = `group by of order by ${usageOrder(by)} limit ${limit} offset ${offset}`;
      const select = `${place} as of, ${sums.join(", ")}`;
      const rows = await shards.search(select, "U/", `${conditions.join("")} ${order}`, objects);
      return rows.map((row) => toUsageTotal({ ...row, of: textIn(row, "of") }));
    },
    trim: async ({ before, limit }) => {
      let removed = 0;
      for (const object of objects)
        removed += await shards.trim(object, "U/", compared(day, "<", before), day, limit - removed);
      return removed;
    },
  };
}
