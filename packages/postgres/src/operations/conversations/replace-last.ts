// Changes the last message of a conversation if it still is as the caller read it: of two who try, one succeeds.
import type { ReplaceLast } from "@andante/core/store";
import type { Query } from "../../connection/client.ts";

export function replaceLast(s: string) {
  const change = `update ${s}.messages set body = $1
    where conversation_id = $2 and message_id = $3 and body = $4
      and sequence = (select max(sequence) from ${s}.messages where conversation_id = $2)
      and exists (select from ${s}.conversations where conversation_id = $2 and user_id is not distinct from $5)`;
  const touch = `update ${s}.conversations set updated_at = greatest(updated_at, $1), revision = revision + 1
    where conversation_id = $2`;
  return async (query: Query, argument: ReplaceLast): Promise<boolean> => {
    const { conversationId, userId, messageId, previous, body, at } = argument;
    const { count } = await query(change, [body, conversationId, messageId, previous, userId]);
    if (count === 0) return false;
    await query(touch, [at, conversationId]);
    return true;
  };
}
