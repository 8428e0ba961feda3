// Commits the end of a turn, and with it what the conversation keeps: the reply and what it used.
import { type CommitResult, type EndTurn, nothingUsed } from "@andante/core/store";
import { readUsage } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import { Changes } from "../../write/changes.ts";
import { Facts } from "../../write/facts.ts";
import { lockedColumns, toLocked } from "../../write/row.ts";
import { commit } from "../commit.ts";
import { keepReply } from "../conversations/keep-reply.ts";
import { lockConversation } from "../conversations/once.ts";

export function endTurn(s: string) {
  const keep = keepReply(s);
  const lock = `select ${lockedColumns} from ${s}.executions where execution_id = $1 for update`;
  return async (query: Query, { commit: last, reply }: EndTurn): Promise<CommitResult> => {
    await lockConversation(query, s, reply.conversationId);
    const [found] = (await query(lock, [last.executionId])).rows;
    const row = found && toLocked(found);
    // One that has ended was ended by this very commit, which is repeated, or by somebody else.
    const live = row?.endAt === null;
    const facts = new Facts(s);
    const changes = new Changes();
    commit.ask?.(last, row, facts);
    await facts.read(query);
    const result = commit.decide(last, row, facts, changes);
    for (const [statement, values] of changes.statements(s)) await query(statement, values);
    if (live && result.kind === "ok")
      await keep(query, { ...reply, usage: readUsage(row.usage) ?? nothingUsed });
    return result;
  };
}
