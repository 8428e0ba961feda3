// Commits the end of a turn, and with it what the conversation keeps: the reply and what it used.
import type { DatabaseSync } from "node:sqlite";
import type { KeepReply } from "../../../conversation-store.ts";
import type { Commit, CommitResult, EndTurn } from "../../../store.ts";
import { nothingUsed, type StoredUsage, sumUsage } from "../../../usage.ts";
import { readUsage } from "../../columns.ts";

interface TurnWrites {
  /** `usage` is what the execution has then used. */
  commit(commit: Commit, usage: StoredUsage | null): CommitResult;
  keepReply(reply: KeepReply): boolean;
}

export function endTurn(database: DatabaseSync, { commit, keepReply }: TurnWrites) {
  const live = database.prepare("select usage from executions where execution_id = ? and end_at is null");
  return ({ commit: last, reply }: EndTurn): CommitResult => {
    // One that has ended was ended by this very commit, which is repeated, or by somebody else.
    const row = live.get(last.executionId);
    const before = readUsage(row?.usage);
    const total = last.usage === null ? null : sumUsage(before, last.usage);
    const result = commit(last, total);
    if (row !== undefined && result.kind === "ok")
      keepReply({ ...reply, usage: total ?? before ?? nothingUsed });
    return result;
  };
}
