// Commits the end of a turn, or that it continues later, and with it the changes of the conversation: the reply and its usage.
import {
  type CommitResult,
  type Decision,
  decisions,
  type EndTurn,
  nothingUsed,
  usageSince,
} from "@andante/core/store";
import { readUsage } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";
import { CollectedChanges } from "../../write/changes.ts";
import { GroupFacts } from "../../write/facts.ts";
import { lockedColumns, toRecord } from "../../write/row.ts";
import { keepReply } from "../conversations/keep-reply.ts";
import { lockConversation } from "../conversations/once.ts";

export function endTurn(s: string) {
  const keep = keepReply(s);
  const countedOf = `select counted_usage from ${s}.executions where execution_id = $1`;
  const count = `update ${s}.executions set counted_usage = usage where execution_id = $1`;
  return async (query: Query, { commit: last, reply }: EndTurn): Promise<CommitResult> => {
    const { executionId, token, number, end } = last;
    await lockConversation(query, s, reply.conversationId);
    const [{ rows }, { result, record, before }] = await Promise.all([
      query(countedOf, [executionId]),
      decideLocked(query, s, decisions.commit, last),
    ]);
    // Otherwise this commit is repeated, or another writer was first.
    const isFirst = before?.token === token && before.commits < number && before.endAt === null;
    if (!isFirst || result.kind !== "ok") return result;
    const counted = readUsage(rows[0]?.counted_usage) ?? nothingUsed;
    await keep(query, { ...reply, usage: usageSince(record?.usage ?? nothingUsed, counted) });
    if (end === null) await query(count, [executionId]);
    return result;
  };
}

/** Locks the row of an execution and lets a decision change it. `before`: the record as it was. */
export async function decideLocked<Argument extends { readonly executionId: string }, Result>(
  query: Query,
  s: string,
  decision: Decision<Argument, Result>,
  argument: Argument,
) {
  const lock = `select ${lockedColumns} from ${s}.executions where execution_id = $1 for update`;
  const [found] = (await query(lock, [argument.executionId])).rows;
  const record = found && toRecord(found);
  const before = record && { ...record };
  const facts = new GroupFacts(s);
  const changes = new CollectedChanges();
  decision.request?.(argument, record, facts.requests);
  await facts.read(query);
  const result = decision.decide(argument, record, facts.facts, changes);
  for (const [statement, values] of changes.statements(s)) await query(statement, values);
  return { result, record, before };
}
