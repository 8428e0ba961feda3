// Reads conversations and their messages.
import { readPage } from "@andante/core/internal";
import type {
  ConversationQuery,
  ConversationRow,
  MessageQuery,
  OneConversation,
  StoredMessage,
} from "@andante/core/store";
import { toConversation, toMessage, writeFreeText } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import type { Readers } from "../../connection/readers.ts";
import { Where } from "../../where.ts";
import { conversationColumns, messageColumns, owned, ownerOf } from "./rows.ts";

/** Reads one conversation without its messages. */
export function readConversation(readers: Readers, s: string) {
  const select = `select ${conversationColumns} from ${s}.conversations where ${owned}`;
  return async ({ conversationId, userId }: OneConversation): Promise<ConversationRow | undefined> => {
    const [row] = await readers.read(select, [conversationId, ...ownerOf(userId)]);
    return row === undefined ? undefined : toConversation(row);
  };
}

/** Lists conversations, the latest change first, a page at a time. */
export function listConversations(readers: Readers, s: string) {
  return async (query: ConversationQuery): Promise<ConversationRow[]> => {
    const { statement, values } = conversationsStatement(s, query);
    return readPage(await readers.search(statement, values), toConversation, query.length);
  };
}

export function conversationsStatement(s: string, query: ConversationQuery) {
  const { userId, agentId, title, before, limit } = query;
  const where = new Where();
  if (userId === null) where.add("user_id is null");
  else where.add("user_id = ?", userId);
  where
    .add("agent_id = ?", agentId)
    .add(
      'strpos(lower(title collate "C"), lower(? collate "C")) > 0',
      title && writeFreeText(title).slice(1, -1),
    )
    .add("(updated_at, conversation_id) < (?, ?)", before?.updatedAt, before?.conversationId);
  const end = where.bind(limit);
  const statement = `select ${conversationColumns} from ${s}.conversations ${where} order by updated_at desc, conversation_id desc limit ${end}`;
  return { statement, values: where.values };
}

// Rows after the one that fills the page are not fetched.
const measured = (rows: string, order: string) => `select * from (
    select *, sum(length(body)) over (order by sequence ${order}) - length(body) as before from (${rows}) as next
  ) as measured where before < 8000000 order by sequence ${order}`;

/** Reads the messages after a number, in order, or backwards from one. */
export function conversationMessages(readers: Readers, s: string) {
  const conversation = `select 1 from ${s}.conversations where ${owned}`;
  const select = measured(
    `select ${messageColumns} from ${s}.messages where conversation_id = $1 and sequence > $2 order by sequence limit $3`,
    "asc",
  );
  const backwards = measured(
    `select ${messageColumns} from ${s}.messages
     where conversation_id = $1 and sequence > $2 and sequence < $3 order by sequence desc limit $4`,
    "desc",
  );
  return async (asked: MessageQuery): Promise<StoredMessage[] | undefined> => {
    const { conversationId, userId, after, before, limit, length } = asked;
    const found = await readers.read(conversation, [conversationId, ...ownerOf(userId)]);
    if (found.length === 0) return undefined;
    if (before !== undefined)
      return readPage(
        await readers.read(backwards, [conversationId, after, before, limit]),
        toMessage,
        length,
      );
    return readPage(await readers.read(select, [conversationId, after, limit]), toMessage, length);
  };
}

/** Reads the newest messages before one that is there, oldest first, within a write. */
export function messagesBefore(s: string) {
  const select = measured(
    `select ${messageColumns} from ${s}.messages where conversation_id = $1
       and sequence < (select sequence from ${s}.messages where conversation_id = $1 and message_id = $2)
     order by sequence desc limit $3`,
    "desc",
  );
  return async (
    query: Query,
    conversationId: string,
    messageId: string,
    limit: number,
  ): Promise<StoredMessage[]> => {
    const { rows } = await query(select, [conversationId, messageId, limit]);
    return readPage(rows, toMessage).reverse();
  };
}

/** Reads the newest messages, oldest first. */
export function recentMessages(readers: Readers, s: string) {
  const conversation = `select 1 from ${s}.conversations where ${owned}`;
  const select = measured(
    `select ${messageColumns} from ${s}.messages where conversation_id = $1 and sequence <= coalesce(
       (select sequence from ${s}.messages where conversation_id = $1 and message_id = $2), 9007199254740991)
     order by sequence desc limit $3`,
    "desc",
  );
  return async (asked: {
    readonly conversationId: string;
    readonly userId: string | null;
    readonly upTo?: string | undefined;
    readonly limit: number;
  }): Promise<StoredMessage[] | undefined> => {
    const { conversationId, userId, upTo = null, limit } = asked;
    const found = await readers.read(conversation, [conversationId, true, userId]);
    if (found.length === 0) return undefined;
    // No message has an id with a NUL, so it ends with none of them.
    const last = upTo?.includes("\u0000") ? null : upTo;
    return readPage(await readers.read(select, [conversationId, last, limit]), toMessage).reverse();
  };
}
