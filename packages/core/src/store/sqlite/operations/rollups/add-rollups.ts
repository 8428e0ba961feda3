// Adds counts to those that are there.
import type { DatabaseSync } from "node:sqlite";
import type { RollupBatch } from "../../../rollup-store.ts";

export function addRollups(database: DatabaseSync) {
  const begin = database.prepare(
    `insert into rollup_writers (writer, number, minute) values (?, ?, ?)
     on conflict (writer) do update set number = excluded.number, minute = excluded.minute
       where number < excluded.number`,
  );
  const add = database.prepare(
    `insert into rollups (steps, minute, workflow_id, step, kind, bucket, count) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (steps, minute, workflow_id, step, kind, bucket) do update set count = count + excluded.count`,
  );
  return ({ writer, number, counts }: RollupBatch): void => {
    const newest = counts.reduce((last, { minute }) => Math.max(last, minute), 0);
    if (begin.run(writer, number, newest).changes === 0) return;
    for (const { minute, workflowId, step, kind, bucket, count } of counts)
      add.run(step === "" ? 0 : 1, minute, workflowId, step, kind, bucket, count);
  };
}
