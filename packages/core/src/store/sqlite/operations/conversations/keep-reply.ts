// Keeps an assistant's message, a summary that was made beside it, and its usage, unless the conversation is gone.
import type { DatabaseSync } from "node:sqlite";
import type { KeepReply, KeptSummary } from "../../../conversation-store.ts";
import { cacheWritesOf, moneyColumns } from "../../../usage.ts";
import { integer } from "../../columns.ts";

export function keepReply(database: DatabaseSync) {
  const conversation = database.prepare(
    "select sequence from conversations where conversation_id = ? and user_id is ?",
  );
  const asked = database.prepare(
    "select sequence from messages where conversation_id = ? and message_id = ? and role = 'user'",
  );
  const taken = database.prepare("select 1 from messages where conversation_id = ? and sequence = ?");
  const write = database.prepare(
    `insert into messages (conversation_id, sequence, message_id, role, body, partial, created_at)
     values (?, ?, ?, 'assistant', ?, ?, ?)
     on conflict (conversation_id, message_id) do update set body = excluded.body, partial = excluded.partial
       where role = 'assistant'`,
  );
  const summarize = database.prepare(
    `insert into messages (conversation_id, sequence, message_id, role, body, partial, created_at)
     select conversation_id, sequence - 1, ?, 'summary', ?, 0, ? from messages
     where conversation_id = ? and message_id = ? and role = 'user' and sequence > 1
     on conflict do nothing`,
  );
  const keepSummary = (conversationId: string, { messageId, before, body }: KeptSummary, at: number) =>
    summarize.run(messageId, body, at, conversationId, before);
  const update = database.prepare(
    `update conversations set
       updated_at = max(updated_at, ?), sequence = ?, revision = revision + 1,
       input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
       total_tokens = total_tokens + ?, calls = calls + ?,
       cached_input_tokens = cached_input_tokens + ?, reasoning_tokens = reasoning_tokens + ?,
       cache_write_tokens = cache_write_tokens + ?, nanos = coalesce(min(nanos + ?, ${Number.MAX_SAFE_INTEGER}), nanos, ?),
       unpriced_calls = iif(unpriced_calls is null and ? is null, null, coalesce(unpriced_calls, calls) + coalesce(?, ?))
     where conversation_id = ?`,
  );
  /** The place that its message keeps free for it. */
  const placeOf = (conversationId: string, replyTo: string | undefined): number | undefined => {
    const question = replyTo === undefined ? undefined : asked.get(conversationId, replyTo);
    if (question === undefined) return undefined;
    const place = integer(question, "sequence") + 1;
    return taken.get(conversationId, place) === undefined ? place : undefined;
  };
  return (reply: KeepReply): boolean => {
    const { conversationId, userId, replyTo, message, summary, usage, at } = reply;
    const row = conversation.get(conversationId, userId);
    if (row === undefined) return false;
    let sequence = integer(row, "sequence");
    if (message !== null) {
      const { messageId, body, partial } = message;
      const place = placeOf(conversationId, replyTo) ?? sequence + 1;
      sequence = Math.max(sequence, place);
      write.run(conversationId, place, messageId, body, partial ? 1 : 0, at);
    }
    if (summary !== undefined) keepSummary(conversationId, summary, at);
    const { inputTokens, outputTokens, totalTokens, calls } = usage;
    const details = [usage.cachedInputTokens ?? 0, usage.reasoningTokens ?? 0, cacheWritesOf(usage)];
    const { nanos, unpriced } = moneyColumns(usage);
    const money = [nanos, nanos, unpriced, unpriced, calls];
    const counted = [inputTokens, outputTokens, totalTokens, calls, ...details];
    update.run(at, sequence, ...counted, ...money, conversationId);
    return true;
  };
}
