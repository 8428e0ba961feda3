// Copies a page of a conversation, up to one of its messages; the last page makes the new conversation of them.
import { endOfPage, maxPageTime } from "@andante/core/internal";
import type { ForkConversation, ForkResult } from "@andante/core/store";
import { integer } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import { lockConversation } from "./once.ts";
import { owned, ownerOf } from "./rows.ts";
import { dropping } from "./unfinished-forks.ts";

/** The number of the last message to copy, and of the last that is copied. */
interface Progress {
  readonly last: number;
  readonly copied: number;
}

export function forkConversation(s: string) {
  // Locked, so that no edit of the source and no removal of left pages comes between the statements of a page.
  const source = `select sequence, revision from ${s}.conversations where ${owned} for share`;
  const taken = `select from ${s}.conversations where conversation_id = $1`;
  const under = `select last, copied from ${s}.forks where fork_id = $1 and copy_id = $2 and revision = $3
    for update`;
  const underWay = `select from ${s}.forks where fork_id = $1 and copy_id <> $2 and changed_at > $3`;
  const drop = `${dropping(s, "fork_id = $1")} select from dropped`;
  const place = `select sequence from ${s}.messages where conversation_id = $1 and message_id = $2`;
  // Reads the lengths and not the bodies.
  const total = `select coalesce(sum(octet_length(body)), 0)::bigint as bytes from ${s}.messages
    where conversation_id = $1 and sequence <= $2`;
  const sizes = `select sequence, octet_length(body)::bigint as bytes from ${s}.messages
    where conversation_id = $1 and sequence > $2 and sequence <= $3 order by sequence limit $4`;
  const copy = `insert into ${s}.messages
      (conversation_id, sequence, message_id, role, body, partial, created_at)
    select $2, sequence, message_id, role, body, partial, created_at from ${s}.messages
    where conversation_id = $1 and sequence > $3 and sequence <= $4`;
  const note = `insert into ${s}.forks (fork_id, copy_id, source_id, revision, last, copied, changed_at)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (fork_id) do update set copied = excluded.copied, changed_at = excluded.changed_at`;
  const begin = `insert into ${s}.conversations
      (conversation_id, agent_id, user_id, title, metadata, created_at, updated_at, sequence)
    select $2, agent_id, user_id, title, metadata, $3, $3, $4 from ${s}.conversations where conversation_id = $1`;
  const forget = `delete from ${s}.forks where fork_id = $1`;

  const start = async (
    query: Query,
    { conversationId, copyId, forkId, upTo, maxBytes, at }: Omit<ForkConversation, "key">,
    sequence: number,
  ): Promise<Progress | ForkResult> => {
    if ((await query(underWay, [forkId, copyId, at - maxPageTime])).count > 0) return { kind: "taken" };
    await query(drop, [forkId]);
    // No message has an id with a NUL.
    if (upTo?.includes("\u0000")) return { kind: "missing" };
    const [end] = upTo === undefined ? [{ sequence }] : (await query(place, [conversationId, upTo])).rows;
    if (end === undefined) return { kind: "missing" };
    const last = integer(end, "sequence");
    const [size] = (await query(total, [conversationId, last])).rows;
    if (size !== undefined && integer(size, "bytes") > maxBytes) return { kind: "too-long" };
    return { last, copied: 0 };
  };

  return async (query: Query, fork: Omit<ForkConversation, "key">): Promise<ForkResult> => {
    const { conversationId, userId, copyId, forkId, page, at } = fork;
    // Messages that are posted under the new id, and other copies to it, come before this page or after it.
    await lockConversation(query, s, forkId);
    const [from] = (await query(source, [conversationId, ...ownerOf(userId)])).rows;
    if (from === undefined) return { kind: "missing" };
    if ((await query(taken, [forkId])).count > 0) return { kind: "taken" };
    const revision = integer(from, "revision");
    const [begun] = (await query(under, [forkId, copyId, revision])).rows;
    const progress =
      begun === undefined
        ? await start(query, fork, integer(from, "sequence"))
        : { last: integer(begun, "last"), copied: integer(begun, "copied") };
    if ("kind" in progress) return progress;
    const { last } = progress;
    const { rows } = await query(sizes, [conversationId, progress.copied, last, page.rows + 1]);
    const { copied, more } = endOfPage(rows, page);
    await query(copy, [conversationId, forkId, progress.copied, copied]);
    if (more) {
      await query(note, [forkId, copyId, conversationId, revision, last, copied, at]);
      return { kind: "more", copied };
    }
    // A user's message keeps the number after its own for its reply.
    await query(begin, [conversationId, forkId, at, last + 1]);
    if (begun !== undefined) await query(forget, [forkId]);
    return { kind: "forked" };
  };
}
