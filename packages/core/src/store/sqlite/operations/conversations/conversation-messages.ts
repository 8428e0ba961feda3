// Reads the messages of a conversation after a number, in order.
import type { DatabaseSync } from "node:sqlite";
import type { MessageQuery, StoredMessage } from "../../../conversation-store.ts";
import { readPage } from "../../../sql/read-page.ts";
import { owned, ownerOf } from "./ownership.ts";
import { toMessage } from "./rows.ts";

export function conversationMessages(database: DatabaseSync) {
  const conversation = database.prepare(`select 1 from conversations where conversation_id = ? and ${owned}`);
  const select = database.prepare(
    "select * from messages where conversation_id = ? and sequence > ? order by sequence limit ?",
  );
  return ({ conversationId, userId, after, limit, length }: MessageQuery): StoredMessage[] | undefined => {
    if (conversation.get(conversationId, ...ownerOf(userId)) === undefined) return undefined;
    return readPage(select.iterate(conversationId, after, limit), toMessage, length);
  };
}
