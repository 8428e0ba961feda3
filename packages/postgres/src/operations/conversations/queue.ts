// The queues of conversations: the messages that wait for their turns.
import { readPage } from "@andante/core/internal";
import type { LeaveQueue, LeftQueue, OneConversation, QueuedMessage } from "@andante/core/store";
import { integer, nullableText, text } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import type { Readers } from "../../connection/readers.ts";
import { owned, ownerOf } from "./rows.ts";

export function queuedMessages(readers: Readers, s: string) {
  const conversation = `select 1 from ${s}.conversations where ${owned}`;
  const select = `select message_id, body, created_at, agent_id, request from ${s}.messages
    where conversation_id = $1 and agent_id is not null order by sequence`;
  return async ({ conversationId, userId }: OneConversation): Promise<QueuedMessage[] | undefined> => {
    const found = await readers.read(conversation, [conversationId, ...ownerOf(userId)]);
    if (found.length === 0) return undefined;
    return readPage(await readers.read(select, [conversationId]), (row) => ({
      messageId: text(row, "message_id"),
      body: text(row, "body"),
      createdAt: integer(row, "created_at"),
      agentId: text(row, "agent_id"),
      request: text(row, "request"),
    }));
  };
}

export function leaveQueue(s: string) {
  const where = `conversation_id = $1 and message_id = $4 and agent_id is not null
    and exists (select from ${s}.conversations where ${owned})`;
  const forget = `update ${s}.messages set agent_id = null, request = null where ${where}`;
  const remove = `delete from ${s}.messages where ${where}`;
  return async (query: Query, { conversationId, userId, messageId, keep }: LeaveQueue): Promise<boolean> => {
    // No message has an id with a NUL.
    if (messageId.includes("\u0000")) return false;
    const values = [conversationId, ...ownerOf(userId), messageId];
    return (await query(keep ? forget : remove, values)).count > 0;
  };
}

/** Whether messages are queued before one of them ($2), or before a new one; none is before one that was queued and is gone ($3). */
export function queuedBefore(s: string): string {
  return `select 1 from ${s}.messages where conversation_id = $1 and agent_id is not null and sequence < coalesce(
    (select sequence from ${s}.messages where conversation_id = $1 and message_id = $2),
    case when $3 then 0 else 9007199254740991 end) limit 1`;
}

export function leftQueues(readers: Readers, s: string) {
  const select = `select message_id, queued.conversation_id, user_id from ${s}.messages queued
    join ${s}.conversations on conversations.conversation_id = queued.conversation_id
    where queued.agent_id = any($1)
      and not exists (select from ${s}.messages earlier where earlier.conversation_id = queued.conversation_id
        and earlier.agent_id is not null and earlier.sequence < queued.sequence)
      and not exists (select from ${s}.executions where executions.conversation_id = queued.conversation_id
        and kind = 'turn' and end_at is null and not idle)
    order by queued.created_at limit $2`;
  return async (asked: {
    readonly agentIds: readonly string[];
    readonly limit: number;
  }): Promise<LeftQueue[]> =>
    (await readers.read(select, [asked.agentIds, asked.limit])).map((row) => ({
      conversationId: text(row, "conversation_id"),
      userId: nullableText(row, "user_id"),
      messageId: text(row, "message_id"),
    }));
}
