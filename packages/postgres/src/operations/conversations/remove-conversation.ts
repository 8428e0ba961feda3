// Removes a conversation with its messages and its turns.
import type { OneConversation } from "@andante/core/store";
import { text } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import { owned, ownerOf } from "./rows.ts";
import { dropping } from "./unfinished-forks.ts";

export function removeConversation(s: string) {
  const remove = `delete from ${s}.conversations where ${owned}`;
  const empty = `${dropping(s, "source_id = $1")} delete from ${s}.messages where conversation_id = $1`;
  const forget = `delete from ${s}.facts where scope = 'conversation' and subject = $1`;
  const lockTurns = `select execution_id from ${s}.executions where conversation_id = $1 and kind = 'turn'
    order by execution_id for update`;
  return async (query: Query, { conversationId, userId }: OneConversation): Promise<boolean> => {
    const { count } = await query(remove, [conversationId, ...ownerOf(userId)]);
    if (count === 0) return false;
    await query(empty, [conversationId]);
    await query(forget, [conversationId]);
    // A process that runs one of them finds its claim gone.
    const turns = (await query(lockTurns, [conversationId])).rows.map((row) => text(row, "execution_id"));
    for (const table of ["journal", "suspensions", "timers", "snapshots", "executions"])
      await query(`delete from ${s}.${table} where execution_id = any($1)`, [turns]);
    return true;
  };
}
