// Removes a summary from a conversation: a model sees the messages again that it replaced.
import type { DatabaseSync } from "node:sqlite";
import type { RemoveSummary } from "../../../conversation-store.ts";
import { owned, ownerOf } from "./ownership.ts";

export function removeSummary(database: DatabaseSync) {
  const remove = database.prepare(
    `delete from messages where conversation_id = ? and message_id = ? and role = 'summary'
       and exists (select 1 from conversations where conversation_id = messages.conversation_id and ${owned})`,
  );
  const touch = database.prepare(
    "update conversations set revision = revision + 1 where conversation_id = ?",
  );
  return ({ conversationId, userId, messageId }: Omit<RemoveSummary, "key">): boolean => {
    if (remove.run(conversationId, messageId, ...ownerOf(userId)).changes === 0) return false;
    touch.run(conversationId);
    return true;
  };
}
