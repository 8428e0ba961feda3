// Reads the newest log lines that match, oldest first.
import type { DatabaseSync } from "node:sqlite";
import type { LogQuery, StoredLog } from "../../../observation-store.ts";
import { integer, nullableText, text } from "../../columns.ts";
import { Where } from "./where.ts";

function troubleIndex(level: number | undefined): string {
  return level !== undefined && level >= 2 ? "level >= 2 and level >= ?" : "level >= ?";
}

export function logs(database: DatabaseSync) {
  return (query: LogQuery): StoredLog[] => {
    const where = new Where()
      .add("execution_id = ?", query.executionId)
      .add("workflow_id = ?", query.workflowId)
      .add("agent_id = ?", query.agentId)
      .add("conversation_id = ?", query.conversationId)
      // The index of warnings and errors is used only where the statement repeats its condition.
      .add(troubleIndex(query.level), query.level)
      .add("id >= ?", query.from)
      .add("id <= ?", query.upTo);
    const rows = database
      .prepare(`select * from logs ${where} order by id desc limit ?`)
      .all(...where.values, query.limit);
    return rows.reverse().map((row) => ({
      id: integer(row, "id"),
      timestamp: integer(row, "timestamp"),
      level: integer(row, "level"),
      workflowId: nullableText(row, "workflow_id"),
      executionId: nullableText(row, "execution_id"),
      agentId: nullableText(row, "agent_id"),
      conversationId: nullableText(row, "conversation_id"),
      record: text(row, "record"),
    }));
  };
}
