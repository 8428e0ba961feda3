// Reads how far executions have come.
import type { DatabaseSync } from "node:sqlite";
import type { ExecutionHead } from "../../store.ts";
import { toHead } from "../columns.ts";

const columns =
  "execution_id, kind, workflow_id, agent_id, user_id, conversation_id, status, sequence, paused, parked, owner";

export function heads(database: DatabaseSync) {
  const select = database.prepare(
    `select ${columns} from executions where execution_id in (select value from json_each(?))`,
  );
  return (executionIds: readonly string[]): ExecutionHead[] =>
    select.all(JSON.stringify(executionIds)).map(toHead);
}

export function liveTurn(database: DatabaseSync) {
  const select = database.prepare(
    `select ${columns} from executions where conversation_id = ? and kind = 'turn' and end_at is null`,
  );
  return (conversationId: string): ExecutionHead | undefined => {
    const row = select.get(conversationId);
    return row && toHead(row);
  };
}
