// Lists open suspensions of workflows and turns, oldest first, a page at a time; pauses wait for no answer and are left out.
import type { DatabaseSync } from "node:sqlite";
import { readPage } from "../../sql/read-page.ts";
import { type WaitingQuery, type WaitingSuspension, waitsForPerson } from "../../suspension.ts";
import { toWaiting } from "../columns.ts";
import { Where } from "./observations/where.ts";

export function waiting(database: DatabaseSync) {
  return (query: WaitingQuery): WaitingSuspension[] => {
    const { workflowId, agentId, userId, suspensionIds: ids, after, limit, length } = query;
    const where = new Where()
      .add("user_id = ? and status = 'suspended'", userId)
      .add("workflow_id = ?", workflowId)
      .add("agent_id = ?", agentId)
      .add("(suspended_at, suspension_id) > (?, ?)", after?.suspendedAt, after?.suspensionId)
      .add("suspension_id in (select value from json_each(?))", ids && JSON.stringify(ids))
      .add(waitsForPerson);
    // One user has few that wait, and a page of ids is short: they are sorted. All of them are walked in their order.
    const source =
      ids !== undefined
        ? "suspensions cross join executions using (execution_id)"
        : userId === undefined
          ? "suspensions indexed by suspensions_by_time cross join executions using (execution_id)"
          : "executions indexed by executions_waiting cross join suspensions using (execution_id)";
    const rows = database
      .prepare(
        `select ${query.brief ? briefColumns : "suspensions.*"}, executions.workflow_id, executions.agent_id, executions.user_id,
                executions.conversation_id, executions.start_at
         from ${source} ${where} order by suspended_at, suspension_id limit ?`,
      )
      .iterate(...where.values, limit);
    return readPage(rows, toWaiting, length);
  };
}

const briefColumns = `suspension_id, execution_id, path, suspensions.step_index, '' as reason, null as data, suspended_at,
  deadline, null as on_deadline, null as resume_schema, awaits, recipient`;
