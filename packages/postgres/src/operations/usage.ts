// Usage of models: added up by every node, summed up by one part of its key, removed when it is old.
import {
  toUsageTotal,
  usageColumnOf,
  usageCountColumns,
  usageKeyColumns,
  usageOrder,
} from "@andante/core/internal";
import type { UsageBatch, UsageStore } from "@andante/core/store";
import type { Readers } from "../connection/readers.ts";
import { Where } from "../where.ts";
import { spendStatement } from "../write/usage.ts";

export function usage(readers: Readers, s: string): UsageStore {
  const sums = usageCountColumns.map((column) => `sum(${column})::float8 as ${column}`).join(", ");
  const keys = usageKeyColumns.join(", ");
  const [gone, old] = ["usage", "old"].map((name) =>
    usageKeyColumns.map((key) => `${name}.${key}`).join(", "),
  );
  return {
    add: add(readers, s),
    totals: readers.forCallers(async ({ by, from, to, limit, offset, rows: most, ...filters }) => {
      const where = new Where()
        .add("day >= ?", from)
        .add("day < ?", to)
        .add("user_id = ?", filters.userId)
        .add("agent_id = ?", filters.agentId);
      const newest = `select * from ${s}.usage ${where} order by day desc limit ${where.bind(most)}`;
      // No index has these.
      const later = [
        filters.workflowId === undefined ? "" : `and workflow_id = ${where.bind(filters.workflowId)}`,
        filters.model === undefined ? "" : `and model = ${where.bind(filters.model)}`,
      ];
      const page = `limit ${where.bind(limit)} offset ${where.bind(offset)}`;
      const rows = await readers.search(
        `select * from (select ${usageColumnOf[by]} as of, ${sums} from (${newest}) as newest where true ${later.join(" ")}
           group by 1) as totals
         order by ${usageOrder(by)} ${page}`,
        where.values,
      );
      return rows.map(toUsageTotal);
    }),
    trim: ({ before, limit }) =>
      readers.write("trimUsage", async (query) => {
        await query(`delete from ${s}.usage_writers where day < $1`, [before], "planned");
        // Rows that another node removes at the same time are passed over.
        const removed = await query(
          `delete from ${s}.usage using (
             select ${keys} from ${s}.usage where day < $1 order by day limit $2 for update skip locked) as old
           where (${gone}) = (${old})`,
          [before, limit],
          "planned",
        );
        return removed.count;
      }),
  };
}

function add(readers: Readers, s: string) {
  const begin = `insert into ${s}.usage_writers (writer, number, day) values ($1, $2, $3)
    on conflict (writer) do update set number = excluded.number, day = excluded.day
      where usage_writers.number < excluded.number`;
  return ({ writer, number, entries }: UsageBatch): Promise<void> => {
    const newest = entries.reduce((last, { day }) => Math.max(last, day), 0);
    return readers.write("addUsage", async (query) => {
      if ((await query(begin, [writer, number, newest])).count === 0) return;
      const [statement, values] = spendStatement(s, entries);
      await query(statement, values);
    });
  };
}
