// Usage of models: every shard has rows of its commits, the log object those of calls without a commit.
import { type UsageStore, type UsageTotal, usageFields } from "@andante/core/store";
import type { Found } from "../client/ingress.ts";
import type { Shards } from "../client/shards.ts";
import { usageColumns } from "../engine/usage.ts";
import { compared, isText, number, numberIn, textIn } from "./sql.ts";

const day = number(usageColumns.day);
const sums = usageFields.map((name) => `sum(${number(usageColumns[name])}) as ${name.toLowerCase()}`);

function totalIn(row: Found): UsageTotal {
  const count = (name: (typeof usageFields)[number]) => numberIn(row, name.toLowerCase());
  return {
    of: textIn(row, "place"),
    calls: count("calls"),
    inputTokens: count("inputTokens"),
    cachedInputTokens: count("cachedInputTokens"),
    cacheWriteTokens: count("cacheWriteTokens"),
    outputTokens: count("outputTokens"),
    reasoningTokens: count("reasoningTokens"),
    nanos: count("nanos"),
    unpricedCalls: count("unpricedCalls"),
  };
}

export function usageOperations(shards: Shards): UsageStore {
  const objects = () => [...shards.all(), "log"];
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
      const order = by === "day" ? "place desc" : "nanos desc, inputtokens + outputtokens desc, place";
      const rest = `${conditions.join("")} group by place order by ${order} limit ${limit} offset ${offset}`;
      const rows = await shards.search(`${place} as place, ${sums.join(", ")}`, "U/", rest, objects());
      return rows.map(totalIn);
    },
    trim: async ({ before, limit }) => {
      let removed = 0;
      for (const object of [...shards.all(), shards.log]) {
        const where = object === shards.log ? "log" : object;
        const rest = `${compared(day, "<", before)} order by place limit ${limit - removed}`;
        const rows = await shards.search(`key, ${day} as place`, "U/", rest, [where]);
        const keys = rows.map((row) => String(row.key));
        if (keys.length > 0) await shards.write(object, "clearKeys", keys);
        removed += keys.length;
        if (removed >= limit) break;
      }
      return removed;
    },
  };
}
