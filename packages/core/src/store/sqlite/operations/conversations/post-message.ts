// Puts a user's message at the end of a conversation, which begins with its first one.
import type { DatabaseSync } from "node:sqlite";
import type { PostMessage, PostResult } from "../../../conversation-store.ts";
import { isForeign } from "../../../decide/index.ts";
import { integer, nullableText, text } from "../../columns.ts";
import { dropFork } from "./unfinished-forks.ts";

export function postMessage(database: DatabaseSync) {
  const conversation = database.prepare(
    "select user_id, agent_id, sequence from conversations where conversation_id = ?",
  );
  const begin = database.prepare(
    `insert into conversations (conversation_id, agent_id, user_id, title, created_at, updated_at, sequence)
     values (?, ?, ?, ?, ?, ?, ?)`,
  );
  const known = database.prepare(
    "select sequence, role, body from messages where conversation_id = ? and message_id = ?",
  );
  const next = database.prepare(
    "select role from messages where conversation_id = ? and sequence > ? order by sequence limit 1",
  );
  const queued = database.prepare(
    "select count(*) as count from messages where conversation_id = ? and agent_id is not null",
  );
  const takeBack = database.prepare("delete from messages where conversation_id = ? and sequence > ?");
  const change = database.prepare(
    `update messages set body = ?, partial = 0, agent_id = null, request = null
     where conversation_id = ? and sequence = ?`,
  );
  const insert = database.prepare(
    `insert into messages (conversation_id, sequence, message_id, role, body, partial, created_at, agent_id, request)
     values (?, ?, ?, 'user', ?, 0, ?, ?, ?)`,
  );
  const touch = database.prepare(
    `update conversations set updated_at = max(updated_at, ?), sequence = max(sequence, ?), revision = revision + ?
     where conversation_id = ?`,
  );
  const drop = dropFork(database);
  return (message: Omit<PostMessage, "key">): PostResult => {
    const { conversationId, agentId, userId, title, messageId, body, again, waits, queue, wasQueued, at } =
      message;
    const place = queue === undefined ? [null, null] : [agentId, queue.request];
    const row = conversation.get(conversationId);
    if (row === undefined) {
      if (wasQueued) return { kind: "withdrawn" };
      // A copy under this id that is not finished makes way.
      drop(conversationId);
      // The place after a message is its reply's.
      begin.run(conversationId, agentId, userId, title, at, at, 2);
      insert.run(conversationId, 1, messageId, body, at, ...place);
      return { kind: "posted" };
    }
    const of = { userId: nullableText(row, "user_id"), agentId: text(row, "agent_id") };
    if (isForeign(of, message)) return { kind: "foreign" };
    const there = known.get(conversationId, messageId);
    if (there === undefined) {
      if (wasQueued) return { kind: "withdrawn" };
      const count = queue && queued.get(conversationId);
      if (count !== undefined && integer(count, "count") >= (queue?.most ?? 0)) return { kind: "full" };
      // The place between is that of a summary.
      const sequence = integer(row, "sequence") + 2;
      insert.run(conversationId, sequence, messageId, body, at, ...place);
      touch.run(at, sequence + 1, 0, conversationId);
      return { kind: "posted" };
    }
    if (text(there, "role") !== "user") return { kind: "has-reply" };
    if (waits || queue !== undefined) return { kind: "posted" };
    const sequence = integer(there, "sequence");
    const changed = text(there, "body") !== body;
    if (changed || again) takeBack.run(conversationId, sequence);
    // Another message may stand after it: each has its own reply.
    else if (next.get(conversationId, sequence)?.role === "assistant") return { kind: "has-reply" };
    change.run(body, conversationId, sequence);
    touch.run(at, sequence + 1, changed || again ? 1 : 0, conversationId);
    return { kind: "posted" };
  };
}
