// Lists open suspensions of workflows and turns, oldest first, a page at a time; pauses wait for no answer and are left out.
import type { DatabaseSync } from "node:sqlite";
import { readPage } from "../../sql/read-page.ts";
import type { WaitingQuery, WaitingSuspension } from "../../suspension.ts";
import { toWaiting } from "../columns.ts";
import { Where } from "./observations/where.ts";

export function waiting(database: DatabaseSync) {
  return ({ workflowId, userId, after, limit, length }: WaitingQuery): WaitingSuspension[] => {
    const where = new Where()
      .add("user_id = ? and status = 'suspended'", userId)
      .add("workflow_id = ?", workflowId)
      .add("(suspended_at, suspension_id) > (?, ?)", after?.suspendedAt, after?.suspensionId)
      .add("path is not null");
    // One user has few that wait: they are sorted. All of them are walked in their order.
    const source =
      userId === undefined
        ? "suspensions indexed by suspensions_by_time cross join executions using (execution_id)"
        : "executions indexed by executions_waiting cross join suspensions using (execution_id)";
    const rows = database
      .prepare(
        `select suspensions.*, executions.workflow_id, executions.agent_id, executions.user_id,
                executions.conversation_id, executions.start_at
         from ${source} ${where} order by suspended_at, suspension_id limit ?`,
      )
      .iterate(...where.values, limit);
    return readPage(rows, toWaiting, length);
  };
}
