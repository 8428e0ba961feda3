// Begins a conversation with the messages of another one, up to one of them.
import type { DatabaseSync } from "node:sqlite";
import type { ForkConversation, ForkResult } from "../../../conversation-store.ts";
import { integer } from "../../columns.ts";
import { owned, ownerOf } from "./ownership.ts";

export function forkConversation(database: DatabaseSync) {
  const source = database.prepare(
    `select sequence from conversations where conversation_id = ? and ${owned}`,
  );
  const taken = database.prepare("select 1 from conversations where conversation_id = ?");
  const last = database.prepare("select sequence from messages where conversation_id = ? and message_id = ?");
  // Reads the lengths and not the bodies.
  const total = database.prepare(
    `select coalesce(sum(octet_length(body)), 0) as bytes from messages
     where conversation_id = ? and sequence <= ?`,
  );
  const begin = database.prepare(
    `insert into conversations
       (conversation_id, agent_id, user_id, title, metadata, created_at, updated_at, sequence)
     select ?, agent_id, user_id, title, metadata, ?, ?, ? from conversations where conversation_id = ?`,
  );
  const copy = database.prepare(
    `insert into messages (conversation_id, sequence, message_id, role, body, partial, created_at)
     select ?, sequence, message_id, role, body, partial, created_at from messages
     where conversation_id = ? and sequence <= ?`,
  );
  return (fork: Omit<ForkConversation, "key">): ForkResult => {
    const { conversationId, userId, forkId, upTo, maxBytes, at } = fork;
    const from = source.get(conversationId, ...ownerOf(userId));
    if (from === undefined) return { kind: "missing" };
    const end = upTo === undefined ? from : last.get(conversationId, upTo);
    if (end === undefined) return { kind: "missing" };
    if (taken.get(forkId) !== undefined) return { kind: "taken" };
    const sequence = integer(end, "sequence");
    const size = total.get(conversationId, sequence);
    if (size !== undefined && integer(size, "bytes") > maxBytes) return { kind: "too-long" };
    // A user's message keeps the number after its own for its reply.
    begin.run(forkId, at, at, sequence + 1, conversationId);
    copy.run(forkId, conversationId, sequence);
    return { kind: "forked" };
  };
}
