// Counts executions that run or wait.
import type { UnfinishedCount } from "@andante/core/store";
import { integer, text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";

/** By workflow. Two indexes lead to these alone, however many have ended. */
export function countUnfinished(readers: Readers, s: string) {
  const count = `select workflow_id, count(*) as count from (
      select workflow_id from ${s}.executions where status = 'running' and kind = 'workflow'
      union all
      select workflow_id from ${s}.executions
      where status = 'suspended' and status <> 'running' and kind = 'workflow') as unfinished
    group by workflow_id order by workflow_id`;
  return async (): Promise<UnfinishedCount[]> =>
    (await readers.read(count, [])).map((row) => ({
      workflowId: text(row, "workflow_id"),
      count: integer(row, "count"),
    }));
}

export function countSuspended(readers: Readers, s: string) {
  const count = `select count(*) as count from ${s}.executions
    where status = 'suspended' and status <> 'running' and kind = 'workflow'`;
  return async (): Promise<number> => {
    const [row] = await readers.read(count, []);
    return row === undefined ? 0 : integer(row, "count");
  };
}
