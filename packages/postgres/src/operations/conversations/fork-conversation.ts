// Begins a conversation with the messages of another one, up to one of them.
import type { ForkConversation, ForkResult } from "@andante/core/store";
import { integer } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import { owned, ownerOf } from "./rows.ts";

export function forkConversation(s: string) {
  const source = `select sequence from ${s}.conversations where ${owned}`;
  const last = `select sequence from ${s}.messages where conversation_id = $1 and message_id = $2`;
  // Reads the lengths and not the bodies.
  const total = `select coalesce(sum(octet_length(body)), 0)::bigint as bytes from ${s}.messages
    where conversation_id = $1 and sequence <= $2`;
  // Another fork may begin under the same id at the same time: one of them does.
  const begin = `insert into ${s}.conversations
      (conversation_id, agent_id, user_id, title, metadata, created_at, updated_at, sequence)
    select $2, agent_id, user_id, title, metadata, $3, $3, $4 from ${s}.conversations where conversation_id = $1
    on conflict do nothing`;
  const copy = `insert into ${s}.messages
      (conversation_id, sequence, message_id, role, body, partial, created_at)
    select $2, sequence, message_id, role, body, partial, created_at from ${s}.messages
    where conversation_id = $1 and sequence <= $3`;
  return async (query: Query, fork: Omit<ForkConversation, "key">): Promise<ForkResult> => {
    const { conversationId, userId, forkId, upTo, maxBytes, at } = fork;
    const [from] = (await query(source, [conversationId, ...ownerOf(userId)])).rows;
    if (from === undefined) return { kind: "missing" };
    // No message has an id with a NUL.
    if (upTo?.includes("\u0000")) return { kind: "missing" };
    const [end] = upTo === undefined ? [from] : (await query(last, [conversationId, upTo])).rows;
    if (end === undefined) return { kind: "missing" };
    const sequence = integer(end, "sequence");
    const [size] = (await query(total, [conversationId, sequence])).rows;
    if (size !== undefined && integer(size, "bytes") > maxBytes) return { kind: "too-long" };
    // A user's message keeps the number after its own for its reply.
    const begun = await query(begin, [conversationId, forkId, at, sequence + 1]);
    if (begun.count === 0) return { kind: "taken" };
    await query(copy, [conversationId, forkId, sequence]);
    return { kind: "forked" };
  };
}
