// Commits the end of a turn, or that it continues later, and with it the reply and the usage that the conversation keeps.
import type { DatabaseSync } from "node:sqlite";
import type { KeepReply } from "../../../conversation-store.ts";
import type { Commit, CommitResult, EndTurn } from "../../../store.ts";
import { nothingUsed, usageSince } from "../../../usage.ts";
import { readUsage } from "../../columns.ts";

interface TurnWrites {
  commit(commit: Commit): CommitResult;
  keepReply(reply: KeepReply): boolean;
}

export function endTurn(database: DatabaseSync, { commit, keepReply }: TurnWrites) {
  const isNew = database.prepare(
    "select 1 from executions where execution_id = ? and token = ? and commits < ? and end_at is null",
  );
  const usageOf = database.prepare("select usage, counted_usage from executions where execution_id = ?");
  const count = database.prepare("update executions set counted_usage = usage where execution_id = ?");
  return ({ commit: last, reply }: EndTurn): CommitResult => {
    const { executionId, token, number, end } = last;
    // Otherwise this commit is repeated, or another writer was first.
    const isFirst = isNew.get(executionId, token, number) !== undefined;
    const result = commit(last);
    if (!isFirst || result.kind !== "ok") return result;
    const row = usageOf.get(executionId);
    const total = readUsage(row?.usage) ?? nothingUsed;
    keepReply({ ...reply, usage: usageSince(total, readUsage(row?.counted_usage) ?? nothingUsed) });
    if (end === null) count.run(executionId);
    return result;
  };
}
