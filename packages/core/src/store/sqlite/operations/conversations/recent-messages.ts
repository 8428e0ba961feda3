// Reads the newest messages of a conversation, or the newest before one of them, oldest first.
import type { DatabaseSync } from "node:sqlite";
import type { StoredMessage } from "../../../conversation-store.ts";
import { readPage } from "../../../sql/read-page.ts";
import { toMessage } from "../../columns.ts";

/** Of a conversation that is there, before a message that is in it. */
export function messagesBefore(database: DatabaseSync) {
  const select = database.prepare(
    `select * from messages where conversation_id = ?
       and sequence < (select sequence from messages where conversation_id = ? and message_id = ?)
     order by sequence desc limit ?`,
  );
  return (conversationId: string, messageId: string, limit: number): StoredMessage[] => {
    return readPage(select.iterate(conversationId, conversationId, messageId, limit), toMessage).reverse();
  };
}

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
