// Commits the end of a turn, and with it the changes of the conversation: the reply and its usage.
import { type CommitResult, decisions, type EndTurn, nothingUsed } from "@andante/core/store";
import type { Query } from "../../connection/client.ts";
import { CollectedChanges } from "../../write/changes.ts";
import { GroupFacts } from "../../write/facts.ts";
import { lockedColumns, toRecord } from "../../write/row.ts";
import { keepReply } from "../conversations/keep-reply.ts";
import { lockConversation } from "../conversations/once.ts";

export function endTurn(s: string) {
  const keep = keepReply(s);
  const lock = `select ${lockedColumns} from ${s}.executions where execution_id = $1 for update`;
  return async (query: Query, { commit: last, reply }: EndTurn): Promise<CommitResult> => {
    await lockConversation(query, s, reply.conversationId);
    const [found] = (await query(lock, [last.executionId])).rows;
    const record = found && toRecord(found);
    // A turn that has ended was ended by this commit, which is repeated, or by another writer.
    const live = record?.endAt === null;
    const facts = new GroupFacts(s);
    const changes = new CollectedChanges();
    decisions.commit.request?.(last, record, facts.requests);
    await facts.read(query);
    const result = decisions.commit.decide(last, record, facts.facts, changes);
    for (const [statement, values] of changes.statements(s)) await query(statement, values);
    if (live && result.kind === "ok") await keep(query, { ...reply, usage: record.usage ?? nothingUsed });
    return result;
  };
}
