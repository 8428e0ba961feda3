// Removes a conversation with its messages.
import type { DatabaseSync } from "node:sqlite";
import type { OneConversation } from "../../../conversation-store.ts";
import { owned, ownerOf } from "./ownership.ts";

export function removeConversation(database: DatabaseSync) {
  const remove = database.prepare(`delete from conversations where conversation_id = ? and ${owned}`);
  const empty = database.prepare("delete from messages where conversation_id = ?");
  return ({ conversationId, userId }: OneConversation): boolean => {
    if (remove.run(conversationId, ...ownerOf(userId)).changes === 0) return false;
    empty.run(conversationId);
    return true;
  };
}
