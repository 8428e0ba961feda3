// Changes the title of a conversation.
import type { DatabaseSync } from "node:sqlite";
import type { OneConversation } from "../../../conversation-store.ts";
import { owned, ownerOf } from "./ownership.ts";

export function renameConversation(database: DatabaseSync) {
  const update = database.prepare(
    `update conversations set title = ?, updated_at = max(updated_at, ?) where conversation_id = ? and ${owned}`,
  );
  return (change: OneConversation & { title: string; at: number }): boolean => {
    const { conversationId, userId, title, at } = change;
    return update.run(title, at, conversationId, ...ownerOf(userId)).changes > 0;
  };
}
