// Keeps an assistant's message, a summary that was made beside it, and its usage, unless the conversation is gone.
import { cacheWritesOf, type KeepReply, moneyColumns } from "@andante/core/store";
import { integer } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";

export function keepReply(s: string) {
  const conversation = `select sequence from ${s}.conversations
    where conversation_id = $1 and user_id is not distinct from $2`;
  const asked = `select sequence from ${s}.messages where conversation_id = $1 and message_id = $2 and role = 'user'`;
  const taken = `select from ${s}.messages where conversation_id = $1 and sequence = $2`;
  const write = `insert into ${s}.messages (conversation_id, sequence, message_id, role, body, partial, created_at)
    values ($1, $2, $3, 'assistant', $4, $5, $6)
    on conflict (conversation_id, message_id) do update set body = excluded.body, partial = excluded.partial
      where messages.role = 'assistant'`;
  const summarize = `insert into ${s}.messages (conversation_id, sequence, message_id, role, body, partial, created_at)
    select conversation_id, sequence - 1, $3, 'summary', $4, false, $5 from ${s}.messages
    where conversation_id = $1 and message_id = $2 and role = 'user' and sequence > 1
    on conflict do nothing`;
  const update = `update ${s}.conversations set updated_at = greatest(updated_at, $1), sequence = $2, revision = revision + 1,
      input_tokens = input_tokens + $3, output_tokens = output_tokens + $4, total_tokens = total_tokens + $5,
      calls = calls + $6, cached_input_tokens = cached_input_tokens + $8, reasoning_tokens = reasoning_tokens + $9,
      cache_write_tokens = cache_write_tokens + $10, nanos = coalesce(nanos + $11::bigint, nanos, $11::bigint),
      unpriced_calls = case when unpriced_calls is not null or $12::bigint is not null
        then coalesce(unpriced_calls, calls) + coalesce($12::bigint, $6) end
    where conversation_id = $7`;
  /** The place that its message keeps free for it. */
  const placeOf = async (
    query: Query,
    conversationId: string,
    replyTo: string | undefined,
  ): Promise<number | undefined> => {
    if (replyTo === undefined) return undefined;
    const [question] = (await query(asked, [conversationId, replyTo])).rows;
    if (question === undefined) return undefined;
    const place = integer(question, "sequence") + 1;
    return (await query(taken, [conversationId, place])).count === 0 ? place : undefined;
  };
  return async (query: Query, reply: KeepReply): Promise<boolean> => {
    const { conversationId, userId, replyTo, message, summary, usage, at } = reply;
    const [row] = (await query(conversation, [conversationId, userId])).rows;
    if (row === undefined) return false;
    let sequence = integer(row, "sequence");
    if (message !== null) {
      const { messageId, body, partial } = message;
      const place = (await placeOf(query, conversationId, replyTo)) ?? sequence + 1;
      sequence = Math.max(sequence, place);
      await query(write, [conversationId, place, messageId, body, partial, at]);
    }
    if (summary !== undefined)
      await query(summarize, [conversationId, summary.before, summary.messageId, summary.body, at]);
    const { inputTokens, outputTokens, totalTokens, calls } = usage;
    const counted = [inputTokens, outputTokens, totalTokens, calls];
    const details = [usage.cachedInputTokens ?? 0, usage.reasoningTokens ?? 0, cacheWritesOf(usage)];
    const { nanos, unpriced } = moneyColumns(usage);
    await query(update, [at, sequence, ...counted, conversationId, ...details, nanos, unpriced]);
    return true;
  };
}
