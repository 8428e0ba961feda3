// Reads the newest log lines that match, oldest first.
import type { DatabaseSync } from "node:sqlite";
import type { LogQuery, StoredLog } from "../../../observation-store.ts";
import { toLog } from "../../../sql/observation-rows.ts";
import { readPage } from "../../../sql/read-page.ts";
import { Where } from "./where.ts";

export function logs(database: DatabaseSync) {
  return (query: LogQuery): StoredLog[] => {
    const where = new Where()
      .add("execution_id = ?", query.executionId)
      .add("workflow_id = ?", query.workflowId)
      .add("agent_id = ?", query.agentId)
      .add("conversation_id = ?", query.conversationId)
      .add(userTerm(query), query.userId)
      .add(levelTerm(query.level), query.level)
      .add("id >= ?", query.from)
      .add("id <= ?", query.upTo);
    const rows = database
      .prepare(`select * from logs ${where} order by id desc limit ?`)
      .iterate(...where.values, query.limit);
    return readPage(rows, toLog).reverse();
  };
}

/** A plus sign keeps SQLite from this column's index: an execution or a conversation has far fewer lines than a user. */
function userTerm({ executionId, conversationId }: LogQuery): string {
  return executionId === undefined && conversationId === undefined ? "user_id = ?" : "+user_id = ?";
}

/** The index of warnings and errors is used only where the statement repeats its condition. */
function levelTerm(level: number | undefined): string {
  return level !== undefined && level >= 2 ? "level >= 2 and level >= ?" : "level >= ?";
}
