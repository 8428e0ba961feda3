// Puts a user's message at the end of a conversation, which begins with its first one.
import { isForeign, type PostMessage, type PostResult } from "@andante/core/store";
import { integer, nullableText, text, writeFreeText } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import { dropping } from "./unfinished-forks.ts";

export function postMessage(s: string) {
  const conversation = `select user_id, agent_id, sequence from ${s}.conversations where conversation_id = $1`;
  // A copy under this id that is not finished makes way.
  const begin = `${dropping(s, "fork_id = $1")} insert into ${s}.conversations (conversation_id, agent_id, user_id, title, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $5)`;
  const known = `select sequence, role, body from ${s}.messages where conversation_id = $1 and message_id = $2`;
  const next = `select role from ${s}.messages where conversation_id = $1 and sequence > $2 order by sequence limit 1`;
  const queued = `select count(*)::int as count from ${s}.messages where conversation_id = $1 and agent_id is not null`;
  const takeBack = `delete from ${s}.messages where conversation_id = $1 and sequence > $2`;
  const change = `update ${s}.messages set body = $1, partial = false, agent_id = null, request = null
    where conversation_id = $2 and sequence = $3`;
  const insert = `insert into ${s}.messages (conversation_id, sequence, message_id, role, body, partial, created_at, agent_id, request)
    values ($1, $2, $3, 'user', $4, false, $5, $6, $7)`;
  const touch = `update ${s}.conversations set updated_at = greatest(updated_at, $1), sequence = greatest(sequence, $2),
      revision = revision + $4
    where conversation_id = $3`;
  return async (query: Query, message: Omit<PostMessage, "key">): Promise<PostResult> => {
    const { conversationId, agentId, userId, title, messageId, body, again, waits, queue, wasQueued, at } =
      message;
    const [row] = (await query(conversation, [conversationId])).rows;
    if (row === undefined && wasQueued) return { kind: "withdrawn" };
    if (row === undefined)
      await query(begin, [conversationId, agentId, userId, title === null ? null : writeFreeText(title), at]);
    else if (isForeign({ userId: nullableText(row, "user_id"), agentId: text(row, "agent_id") }, message))
      return { kind: "foreign" };
    const [there] = row === undefined ? [] : (await query(known, [conversationId, messageId])).rows;
    if (there === undefined) {
      if (wasQueued) return { kind: "withdrawn" };
      const [count] = queue === undefined ? [] : (await query(queued, [conversationId])).rows;
      if (count !== undefined && integer(count, "count") >= (queue?.most ?? 0)) return { kind: "full" };
      // Between two messages is the place of a summary.
      const sequence = row === undefined ? 1 : integer(row, "sequence") + 2;
      const place = queue === undefined ? [null, null] : [agentId, queue.request];
      await query(insert, [conversationId, sequence, messageId, body, at, ...place]);
      await query(touch, [at, sequence + 1, conversationId, 0]);
      return { kind: "posted" };
    }
    if (text(there, "role") !== "user") return { kind: "has-reply" };
    if (waits || queue !== undefined) return { kind: "posted" };
    const sequence = integer(there, "sequence");
    const changed = text(there, "body") !== body;
    if (changed || again) await query(takeBack, [conversationId, sequence]);
    // Another message may follow it: each has its own reply.
    else if ((await query(next, [conversationId, sequence])).rows[0]?.role === "assistant")
      return { kind: "has-reply" };
    await query(change, [body, conversationId, sequence]);
    await query(touch, [at, sequence + 1, conversationId, changed || again ? 1 : 0]);
    return { kind: "posted" };
  };
}
