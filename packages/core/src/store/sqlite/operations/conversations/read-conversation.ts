// Reads one conversation without its messages.
import type { DatabaseSync } from "node:sqlite";
import type { ConversationRow, OneConversation } from "../../../conversation-store.ts";
import { toConversation } from "../../columns.ts";
import { owned, ownerOf } from "./ownership.ts";

export function readConversation(database: DatabaseSync) {
  const select = database.prepare(`select * from conversations where conversation_id = ? and ${owned}`);
  return ({ conversationId, userId }: OneConversation): ConversationRow | undefined => {
    const row = select.get(conversationId, ...ownerOf(userId));
    return row === undefined ? undefined : toConversation(row);
  };
}
