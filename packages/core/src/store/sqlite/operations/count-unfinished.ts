// Counts the executions that run or wait, by workflow.
import type { DatabaseSync } from "node:sqlite";
import type { UnfinishedCount } from "../../store.ts";
import { integer, text } from "../columns.ts";

export function countUnfinished(database: DatabaseSync) {
  // Two indexes lead to these alone, however many have ended.
  const count = database.prepare(
    `select workflow_id, count(*) as count from (
       select workflow_id from executions indexed by executions_running
       where status = 'running' and kind = 'workflow'
       union all
       select workflow_id from executions indexed by executions_by_status
       where status = 'suspended' and status <> 'running' and kind = 'workflow')
     group by workflow_id order by workflow_id`,
  );
  return (): UnfinishedCount[] =>
    count.all().map((row) => ({ workflowId: text(row, "workflow_id"), count: integer(row, "count") }));
}
