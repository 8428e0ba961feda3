// Commits the end of a turn, and with it the reply and the usage that the conversation keeps.
import type { DatabaseSync } from "node:sqlite";
import type { KeepReply } from "../../../conversation-store.ts";
import type { Commit, CommitResult, EndTurn } from "../../../store.ts";
import { nothingUsed } from "../../../usage.ts";
import { readUsage } from "../../columns.ts";

interface TurnWrites {
  commit(commit: Commit): CommitResult;
  keepReply(reply: KeepReply): boolean;
}

export function endTurn(database: DatabaseSync, { commit, keepReply }: TurnWrites) {
  const isLive = database.prepare("select 1 from executions where execution_id = ? and status = 'running'");
  const usageOf = database.prepare("select usage from executions where execution_id = ?");
  return ({ commit: last, reply }: EndTurn): CommitResult => {
    // A turn that has ended or waits was ended by this commit, which is repeated, or by another writer.
    const live = isLive.get(last.executionId) !== undefined;
    const result = commit(last);
    if (live && result.kind === "ok")
      keepReply({ ...reply, usage: readUsage(usageOf.get(last.executionId)?.usage) ?? nothingUsed });
    return result;
  };
}
