// Reads how far executions have come.
import type { ExecutionHead } from "@andante/core/store";
import { toHead } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";

const columns =
  "execution_id, kind, workflow_id, agent_id, user_id, conversation_id, status, sequence, paused, parked, owner";

export function heads(readers: Readers, s: string) {
  const select = `select ${columns} from ${s}.executions where execution_id = any($1)`;
  return async (executionIds: readonly string[]): Promise<ExecutionHead[]> => {
    // No id holds a NUL; one that does must not hide the others.
    const ids = executionIds.filter((executionId) => !executionId.includes("\u0000"));
    return (await readers.read(select, [ids])).map(toHead);
  };
}

export function liveTurn(readers: Readers, s: string) {
  const select = `select ${columns} from ${s}.executions
    where conversation_id = $1 and kind = 'turn' and end_at is null`;
  return async (conversationId: string): Promise<ExecutionHead | undefined> => {
    const [row] = await readers.read(select, [conversationId]);
    return row && toHead(row);
  };
}
