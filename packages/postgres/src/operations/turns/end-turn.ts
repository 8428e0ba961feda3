// Commits the end of a turn, and with it the changes of the conversation: the reply and its usage.
import { type CommitResult, type Decision, decisions, type EndTurn, nothingUsed } from "@andante/core/store";
import type { Query } from "../../connection/client.ts";
import { CollectedChanges } from "../../write/changes.ts";
import { GroupFacts } from "../../write/facts.ts";
import { lockedColumns, toRecord } from "../../write/row.ts";
import { keepReply } from "../conversations/keep-reply.ts";
import { lockConversation } from "../conversations/once.ts";

export function endTurn(s: string) {
  const keep = keepReply(s);
  return async (query: Query, { commit: last, reply }: EndTurn): Promise<CommitResult> => {
    await lockConversation(query, s, reply.conversationId);
    const { result, record, before } = await decideLocked(query, s, decisions.commit, last);
    // A turn that has ended or waits was ended by this commit, which is repeated, or by another writer.
    if (before === "running" && result.kind === "ok")
      await keep(query, { ...reply, usage: record?.usage ?? nothingUsed });
    return result;
  };
}

/** Locks the row of an execution and lets a decision change it. `before`: the status that it had. */
export async function decideLocked<Argument extends { readonly executionId: string }, Result>(
  query: Query,
  s: string,
  decision: Decision<Argument, Result>,
  argument: Argument,
) {
  const lock = `select ${lockedColumns} from ${s}.executions where execution_id = $1 for update`;
  const [found] = (await query(lock, [argument.executionId])).rows;
  const record = found && toRecord(found);
  const before = record?.status;
  const facts = new GroupFacts(s);
  const changes = new CollectedChanges();
  decision.request?.(argument, record, facts.requests);
  await facts.read(query);
  const result = decision.decide(argument, record, facts.facts, changes);
  for (const [statement, values] of changes.statements(s)) await query(statement, values);
  return { result, record, before };
}
