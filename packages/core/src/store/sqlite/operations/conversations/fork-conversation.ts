// Copies a page of a conversation, up to one of its messages; the last page makes the new conversation of them.
import type { DatabaseSync } from "node:sqlite";
import type { ForkConversation, ForkResult } from "../../../conversation-store.ts";
import { endOfPage, maxPageTime } from "../../../sql/copy-page.ts";
import { integer } from "../../columns.ts";
import { owned, ownerOf } from "./ownership.ts";
import { dropFork } from "./unfinished-forks.ts";

/** The number of the last message to copy, and of the last that is copied. */
interface Progress {
  readonly last: number;
  readonly copied: number;
}

export function forkConversation(database: DatabaseSync) {
  const source = database.prepare(
    `select sequence, revision from conversations where conversation_id = ? and ${owned}`,
  );
  const taken = database.prepare("select 1 from conversations where conversation_id = ?");
  const under = database.prepare(
    "select last, copied from forks where fork_id = ? and copy_id = ? and revision = ?",
  );
  const underWay = database.prepare(
    "select 1 from forks where fork_id = ? and copy_id <> ? and changed_at > ?",
  );
  const drop = dropFork(database);
  const place = database.prepare(
    "select sequence from messages where conversation_id = ? and message_id = ?",
  );
  // Reads the lengths and not the bodies.
  const total = database.prepare(
    `select coalesce(sum(octet_length(body)), 0) as bytes from messages
     where conversation_id = ? and sequence <= ?`,
  );
  const sizes = database.prepare(
    `select sequence, octet_length(body) as bytes from messages
     where conversation_id = ? and sequence > ? and sequence <= ? order by sequence limit ?`,
  );
  const copy = database.prepare(
    `insert into messages (conversation_id, sequence, message_id, role, body, partial, created_at)
     select ?, sequence, message_id, role, body, partial, created_at from messages
     where conversation_id = ? and sequence > ? and sequence <= ?`,
  );
  const note = database.prepare(
    `insert into forks (fork_id, copy_id, source_id, revision, last, copied, changed_at)
     values (?, ?, ?, ?, ?, ?, ?)
     on conflict (fork_id) do update set copied = excluded.copied, changed_at = excluded.changed_at`,
  );
  const begin = database.prepare(
    `insert into conversations
       (conversation_id, agent_id, user_id, title, metadata, created_at, updated_at, sequence)
     select ?, agent_id, user_id, title, metadata, ?, ?, ? from conversations where conversation_id = ?`,
  );
  const forget = database.prepare("delete from forks where fork_id = ?");

  const start = (fork: Omit<ForkConversation, "key">, sequence: number): Progress | ForkResult => {
    const { conversationId, copyId, forkId, upTo, maxBytes, at } = fork;
    if (underWay.get(forkId, copyId, at - maxPageTime) !== undefined) return { kind: "taken" };
    drop(forkId);
    const end = upTo === undefined ? { sequence } : place.get(conversationId, upTo);
    if (end === undefined) return { kind: "missing" };
    const last = integer(end, "sequence");
    const size = total.get(conversationId, last);
    if (size !== undefined && integer(size, "bytes") > maxBytes) return { kind: "too-long" };
    return { last, copied: 0 };
  };

  return (fork: Omit<ForkConversation, "key">): ForkResult => {
    const { conversationId, userId, copyId, forkId, page, at } = fork;
    const from = source.get(conversationId, ...ownerOf(userId));
    if (from === undefined) return { kind: "missing" };
    if (taken.get(forkId) !== undefined) return { kind: "taken" };
    const revision = integer(from, "revision");
    const begun = under.get(forkId, copyId, revision);
    const progress =
      begun === undefined
        ? start(fork, integer(from, "sequence"))
        : { last: integer(begun, "last"), copied: integer(begun, "copied") };
    if ("kind" in progress) return progress;
    const { last } = progress;
    const rows = sizes.all(conversationId, progress.copied, last, page.rows + 1);
    const { copied, more } = endOfPage(rows, page);
    copy.run(forkId, conversationId, progress.copied, copied);
    if (more) {
      note.run(forkId, copyId, conversationId, revision, last, copied, at);
      return { kind: "more", copied };
    }
    // A user's message keeps the number after its own for its reply.
    begin.run(forkId, at, at, last + 1, conversationId);
    if (begun !== undefined) forget.run(forkId);
    return { kind: "forked" };
  };
}
