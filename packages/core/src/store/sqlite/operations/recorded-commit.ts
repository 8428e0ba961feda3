// A commit that is repeated because its reply was lost: finds what was replied.
import type { DatabaseSync } from "node:sqlite";
import type { Commit, CommitResult } from "../../store.ts";
import { integer, type Row, text } from "../columns.ts";

/** What the journal's row of a commit is found by: the end of the claim's token, the commit's number, and the reply. */
export function writeKey(
  { token, number }: Pick<Commit, "token" | "number">,
  kind: "ok" | "paused",
  idle: boolean,
): string {
  return `${token.slice(-12)}.${number}.${kind}${idle ? ".idle" : ""}`;
}

/** What a commit that was recorded can have been replied with. */
const replies = [
  { kind: "ok", idle: false },
  { kind: "ok", idle: true },
  { kind: "paused", idle: false },
  { kind: "paused", idle: true },
] as const;

/** Events that others may have written since. */
const farBack = 1_000;

export function recordedCommit(database: DatabaseSync) {
  // Backwards, because the commit is among the last: whoever repeats one has made none since.
  const find = database.prepare(
    `select sequence, write_key from journal where execution_id = ? and sequence > ?
       and write_key in (?, ?, ?, ?) order by sequence desc limit 1`,
  );
  return (commit: Commit, row: Row | undefined): CommitResult | undefined => {
    if (row === undefined) return undefined;
    const { executionId, token, number } = commit;
    const holds = row.token === token;
    if (holds && integer(row, "commits") < number) return undefined;
    const keys = replies.map(({ kind, idle }) => writeKey(commit, kind, idle));
    const found = find.get(executionId, integer(row, "sequence") - farBack, ...keys);
    if (found !== undefined) {
      const reply = replies[keys.indexOf(text(found, "write_key"))] ?? replies[0];
      return { ...reply, sequence: integer(found, "sequence") };
    }
    // It had no events, so the journal does not show it; nothing has to be numbered either.
    if (!holds) return undefined;
    // With events to follow it would be in the journal, had it not been recorded under a pause that is over.
    const wasPaused = row.paused === 1 || commit.following.length > 0;
    return {
      kind: wasPaused ? "paused" : "ok",
      sequence: integer(row, "sequence"),
      idle: false,
    };
  };
}
