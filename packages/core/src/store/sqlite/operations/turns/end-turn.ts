// Commits the end of a turn, and with it what the conversation keeps: the reply and what it used.
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
  const isLive = database.prepare("select 1 from executions where execution_id = ? and end_at is null");
  const usageOf = database.prepare("select usage from executions where execution_id = ?");
  return (argument: EndTurn): CommitResult => {
    const { executionId } = argument.commit;
    // One that has ended was ended by this very commit, which is repeated, or by somebody else.
    const live = isLive.get(executionId) !== undefined;
    const result = commit(argument.commit);
    if (live && result.kind === "ok") {
      const usage = readUsage(usageOf.get(executionId)?.usage) ?? nothingUsed;
      keepReply({ ...argument.reply, usage });
    }
    return result;
  };
}
