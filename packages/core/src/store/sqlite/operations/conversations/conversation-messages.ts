// Reads the messages of a conversation after a number, in order, or backwards from one.
import type { DatabaseSync } from "node:sqlite";
import type { MessageQuery, StoredMessage } from "../../../conversation-store.ts";
import { readPage } from "../../../sql/read-page.ts";
import { toMessage } from "../../columns.ts";
import { owned, ownerOf } from "./ownership.ts";

export function conversationMessages(database: DatabaseSync) {
  const conversation = database.prepare(`select 1 from conversations where conversation_id = ? and ${owned}`);
  const select = database.prepare(
    "select * from messages where conversation_id = ? and sequence > ? order by sequence limit ?",
  );
  const backwards = database.prepare(
    `select * from messages where conversation_id = ? and sequence > ? and sequence < ?
     order by sequence desc limit ?`,
  );
  return (query: MessageQuery): StoredMessage[] | undefined => {
    const { conversationId, userId, after, before, limit, length } = query;
    if (conversation.get(conversationId, ...ownerOf(userId)) === undefined) return undefined;
    const rows =
      before === undefined
        ? select.iterate(conversationId, after, limit)
        : backwards.iterate(conversationId, after, before, limit);
    return readPage(rows, toMessage, length);
  };
}
