// Changes the title and the metadata of a conversation.
import type { DatabaseSync } from "node:sqlite";
import type { ChangeConversation } from "../../../conversation-store.ts";
import { owned, ownerOf } from "./ownership.ts";

export function changeConversation(database: DatabaseSync) {
  const update = database.prepare(
    `update conversations set title = coalesce(?, title), metadata = iif(?, ?, metadata),
       updated_at = max(updated_at, ?)
     where conversation_id = ? and ${owned}`,
  );
  return (change: Omit<ChangeConversation, "key">): boolean => {
    const { conversationId, userId, title = null, metadata, at } = change;
    const changesMetadata = metadata === undefined ? 0 : 1;
    const values = [title, changesMetadata, metadata ?? null, at, conversationId, ...ownerOf(userId)];
    return update.run(...values).changes > 0;
  };
}
