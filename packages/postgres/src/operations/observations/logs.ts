// Reads the newest log lines that match, oldest first.
import { readPage, toLog } from "@andante/core/internal";
import type { LogQuery, StoredLog } from "@andante/core/store";
import { type Row, text } from "../../columns.ts";
import type { Readers } from "../../connection/readers.ts";
import { Where } from "../../where.ts";

const columns =
  "id, node, timestamp, level, workflow_id, execution_id, agent_id, conversation_id, user_id, record";

/** `node` names this process. */
export function logs(readers: Readers, s: string, node: string) {
  return async (query: LogQuery): Promise<StoredLog[]> => {
    const { statement, values } = logsStatement(s, query);
    return readPage(await readers.search(statement, values), toLine(node)).reverse();
  };
}

function toLine(here: string) {
  return (row: Row): StoredLog => {
    const node = text(row, "node");
    return node === here ? toLog(row) : { ...toLog(row), node };
  };
}

export function logsElsewhere(readers: Readers, s: string, node: string) {
  const select = `select ${columns} from ${s}.logs where id >= $1 and node <> $2 order by id desc limit $3`;
  return async ({ from, limit }: { readonly from: number; readonly limit: number }) => {
    const rows = await readers.read(select, [from, node, limit]);
    return readPage(rows, toLine(node)).reverse();
  };
}

export function logsStatement(s: string, query: LogQuery): { statement: string; values: unknown[] } {
  const where = new Where()
    .add("execution_id = ?", query.executionId)
    .add("workflow_id = ?", query.workflowId)
    .add("agent_id = ?", query.agentId)
    .add("conversation_id = ?", query.conversationId)
    .add("user_id = ?", query.userId)
    .add("level >= ?", query.level)
    .add("id >= ?", query.from)
    .add("id <= ?", query.upTo);
  // The index of warnings and errors is used only where the statement repeats its condition.
  if (query.level !== undefined && query.level >= 2) where.add("level >= 2");
  const limit = where.bind(query.limit);
  const statement = `select ${columns} from ${s}.logs ${where} order by id desc, node desc limit ${limit}`;
  return { statement, values: where.values };
}
