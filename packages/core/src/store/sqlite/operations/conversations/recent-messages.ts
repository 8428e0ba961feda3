// Reads the newest messages of a conversation, oldest first.
import type { DatabaseSync } from "node:sqlite";
import type { StoredMessage } from "../../../conversation-store.ts";
import { readPage } from "../../../sql/read-page.ts";
import { toMessage } from "./rows.ts";

export function recentMessages(database: DatabaseSync) {
  const conversation = database.prepare(
    "select 1 from conversations where conversation_id = ? and user_id is ?",
  );
  const select = database.prepare(
    `select * from messages where conversation_id = ? and sequence <= coalesce(
       (select sequence from messages where conversation_id = ? and message_id = ?), 9007199254740991)
     order by sequence desc limit ?`,
  );
  return (query: {
    conversationId: string;
    userId: string | null;
    upTo?: string | undefined;
    limit: number;
  }): StoredMessage[] | undefined => {
    const { conversationId, userId, upTo = null, limit } = query;
    if (conversation.get(conversationId, userId) === undefined) return undefined;
    return readPage(select.iterate(conversationId, conversationId, upTo, limit), toMessage).reverse();
  };
}
