// Changes a message that no reply follows if it still is as the caller read it: of two who try, one succeeds.
import type { DatabaseSync } from "node:sqlite";
import type { ReplaceLast } from "../../../conversation-store.ts";

export function replaceLast(database: DatabaseSync) {
  const change = database.prepare(
    `update messages as changed set body = ? where conversation_id = ? and message_id = ? and body = ?
       and not exists (select 1 from messages
         where conversation_id = ? and sequence > changed.sequence and role = 'assistant')
       and exists (select 1 from conversations where conversation_id = ? and user_id is ?)`,
  );
  const touch = database.prepare(
    "update conversations set updated_at = max(updated_at, ?), revision = revision + 1 where conversation_id = ?",
  );
  return ({ conversationId, userId, messageId, previous, body, at }: ReplaceLast): boolean => {
    const id = conversationId;
    const { changes } = change.run(body, id, messageId, previous, id, id, userId);
    if (changes === 0) return false;
    touch.run(at, id);
    return true;
  };
}
