// Counts over time: added up by every node, summed up for charts, removed when they are old.
import { toPoint, toTotal } from "@andante/core/internal";
import type { RollupBatch, RollupRange, RollupStore } from "@andante/core/store";
import type { Readers } from "../connection/readers.ts";
import { Where } from "../where.ts";

export function rollups(readers: Readers, s: string): RollupStore {
  return {
    add: add(readers, s),
    overTime: readers.forCallers(async (query) => {
      const where = within(false, query);
      const index = `(minute - ${where.bind(query.from)}::bigint) / ${where.bind(query.width)}::bigint`;
      const rows = await readers.search(
        `select ${index} as point, kind, bucket, sum(count)::bigint as count from ${s}.rollups ${where}
         group by 1, kind, bucket`,
        where.values,
      );
      return rows.map(toPoint);
    }),
    totals: readers.forCallers(async (query) => {
      const where = within(query.of === "steps", query);
      const rows = await readers.search(
        `select workflow_id, step, kind, bucket, sum(count)::bigint as count from ${s}.rollups ${where}
         group by workflow_id, step, kind, bucket`,
        where.values,
      );
      return rows.map(toTotal);
    }),
    trim: trim(readers, s),
  };
}

function add(readers: Readers, s: string) {
  const begin = `insert into ${s}.rollup_writers (writer, number, minute) values ($1, $2, $3)
    on conflict (writer) do update set number = excluded.number, minute = excluded.minute
      where rollup_writers.number < excluded.number`;
  const insert = `insert into ${s}.rollups (steps, minute, workflow_id, step, kind, bucket, count)
    select * from unnest($1::boolean[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::bigint[])
    on conflict (steps, minute, workflow_id, step, kind, bucket) do update set count = rollups.count + excluded.count`;
  return ({ writer, number, counts }: RollupBatch): Promise<void> => {
    const newest = counts.reduce((last, { minute }) => Math.max(last, minute), 0);
    // In one order on every node: two that add to the same rows do not wait for each other in a circle.
    const rows = counts
      .map((each) => ({
        ...each,
        key: JSON.stringify([each.minute, each.workflowId, each.step, each.kind, each.bucket]),
      }))
      .sort((one, other) => (one.key < other.key ? -1 : 1));
    return readers.write("addRollups", async (query) => {
      if ((await query(begin, [writer, number, newest])).count === 0) return;
      await query(insert, [
        rows.map(({ step }) => step !== ""),
        rows.map(({ minute }) => minute),
        rows.map(({ workflowId }) => workflowId),
        rows.map(({ step }) => step),
        rows.map(({ kind }) => kind),
        rows.map(({ bucket }) => bucket),
        rows.map(({ count }) => count),
      ]);
    });
  };
}

function trim(readers: Readers, s: string): RollupStore["trim"] {
  // Rows that another node removes at the same time are passed over.
  const drop = `delete from ${s}.rollups using (
      select steps, minute, workflow_id, step, kind, bucket from ${s}.rollups
      where steps = $1 and minute < $2 order by minute limit $3 for update skip locked) as old
    where (rollups.steps, rollups.minute, rollups.workflow_id, rollups.step, rollups.kind, rollups.bucket)
      = (old.steps, old.minute, old.workflow_id, old.step, old.kind, old.bucket)`;
  return ({ executions, steps, limit }) =>
    readers.write("trimRollups", async (query) => {
      await query(`delete from ${s}.rollup_writers where minute < $1`, [executions], "planned");
      const whole = await query(drop, [false, executions, limit], "planned");
      const parts = await query(drop, [true, steps, limit], "planned");
      return whole.count + parts.count;
    });
}

function within(steps: boolean, { from, to, workflowId }: RollupRange): Where {
  return new Where()
    .add("steps = ?", steps)
    .add("minute >= ?", from)
    .add("minute < ?", to)
    .add("workflow_id = ?", workflowId);
}
