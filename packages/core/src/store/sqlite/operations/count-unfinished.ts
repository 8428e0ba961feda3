// Counts the executions that run or wait, by workflow.
import type { DatabaseSync } from "node:sqlite";
import type { UnfinishedCount } from "../../store.ts";
import { integer, text } from "../columns.ts";

export function countUnfinished(database: DatabaseSync) {
  // By status: its index leads to these alone, however many have ended.
  const count = database.prepare(
    `select workflow_id, count(*) as count from executions where status in ('running', 'suspended')
     group by workflow_id order by workflow_id`,
  );
  return (): UnfinishedCount[] =>
    count.all().map((row) => ({ workflowId: text(row, "workflow_id"), count: integer(row, "count") }));
}
