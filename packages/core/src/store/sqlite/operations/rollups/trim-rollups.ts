// Removes the oldest counts, a bounded number at a time.
import type { DatabaseSync } from "node:sqlite";
import type { RollupTrim } from "../../../rollup-store.ts";

export function trimRollups(database: DatabaseSync) {
  const drop = database.prepare(
    `delete from rollups where (steps, minute, workflow_id, step, kind, bucket) in
       (select steps, minute, workflow_id, step, kind, bucket from rollups
        where steps = ? and minute < ? order by minute limit ?)`,
  );
  const dropWriters = database.prepare("delete from rollup_writers where minute < ?");
  return ({ executions, steps, limit }: RollupTrim): number => {
    dropWriters.run(executions);
    const removed = [drop.run(0, executions, limit), drop.run(1, steps, limit)];
    return removed.reduce((total, { changes }) => total + Number(changes), 0);
  };
}
