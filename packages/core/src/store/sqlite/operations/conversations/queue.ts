// The queues of conversations: the messages that wait for their turns.
import type { DatabaseSync } from "node:sqlite";
import type { LeaveQueue, LeftQueue, OneConversation, QueuedMessage } from "../../../conversation-store.ts";
import { readPage } from "../../../sql/read-page.ts";
import type { TurnMessage } from "../../../store.ts";
import { integer, nullableText, text } from "../../columns.ts";
import { owned, ownerOf } from "./ownership.ts";

export function queuedMessages(database: DatabaseSync) {
  const conversation = database.prepare(`select 1 from conversations where conversation_id = ? and ${owned}`);
  const select = database.prepare(
    `select message_id, body, created_at, agent_id, request from messages
     where conversation_id = ? and agent_id is not null order by sequence`,
  );
  return ({ conversationId, userId }: OneConversation): QueuedMessage[] | undefined => {
    if (conversation.get(conversationId, ...ownerOf(userId)) === undefined) return undefined;
    return readPage(select.iterate(conversationId), (row) => ({
      messageId: text(row, "message_id"),
      body: text(row, "body"),
      createdAt: integer(row, "created_at"),
      agentId: text(row, "agent_id"),
      request: text(row, "request"),
    }));
  };
}

export function leaveQueue(database: DatabaseSync) {
  const where = `conversation_id = ? and message_id = ? and agent_id is not null
    and exists (select 1 from conversations where conversation_id = messages.conversation_id and ${owned})`;
  const forget = database.prepare(`update messages set agent_id = null, request = null where ${where}`);
  const remove = database.prepare(`delete from messages where ${where}`);
  return ({ conversationId, userId, messageId, keep = false }: Omit<LeaveQueue, "key">): boolean => {
    const statement = keep ? forget : remove;
    return statement.run(conversationId, messageId, ...ownerOf(userId)).changes > 0;
  };
}

/** Whether messages are queued before one of them, or before a new one; none is before one that was queued and is gone. */
export function queuedBefore(database: DatabaseSync) {
  const select = database.prepare(
    `select 1 from messages where conversation_id = ? and agent_id is not null and sequence < coalesce(
       (select sequence from messages where conversation_id = ? and message_id = ?), ?) limit 1`,
  );
  return (conversationId: string, message: TurnMessage): boolean => {
    const otherwise = message.kind === "post" && message.wasQueued ? 0 : Number.MAX_SAFE_INTEGER;
    return select.get(conversationId, conversationId, message.messageId, otherwise) !== undefined;
  };
}

export function leftQueues(database: DatabaseSync) {
  const select = database.prepare(
    `select conversation_id, message_id, (select user_id from conversations
       where conversations.conversation_id = messages.conversation_id) as user_id
     from messages indexed by messages_queued
     where agent_id is not null and agent_id in (select value from json_each(?))
       and not exists (select 1 from messages as earlier where earlier.conversation_id = messages.conversation_id
         and earlier.agent_id is not null and earlier.sequence < messages.sequence)
       and not exists (select 1 from executions indexed by executions_live_turn
         where executions.conversation_id = messages.conversation_id and kind = 'turn' and end_at is null and idle = 0)
     order by created_at limit ?`,
  );
  return ({ agentIds, limit }: { agentIds: readonly string[]; limit: number }): LeftQueue[] =>
    select.all(JSON.stringify(agentIds), limit).map((row) => ({
      conversationId: text(row, "conversation_id"),
      userId: nullableText(row, "user_id"),
      messageId: text(row, "message_id"),
    }));
}
