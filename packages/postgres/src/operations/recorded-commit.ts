// A commit that is repeated because its result was lost: finds what it was.
import type { Commit, CommitResult } from "@andante/core/store";
import type { Facts } from "../write/facts.ts";
import type { LockedRow } from "../write/row.ts";

/** What the journal's row of a commit is found by: the end of the claim's token, the commit's number, and the result. */
export function writeKey({ token, number }: Commit, kind: "ok" | "paused", idle: boolean): string {
  return `${token.slice(-12)}.${number}.${kind}${idle ? ".idle" : ""}`;
}

/** The results that a commit which was recorded can have had. */
const results = [
  { kind: "ok", idle: false },
  { kind: "ok", idle: true },
  { kind: "paused", idle: false },
  { kind: "paused", idle: true },
] as const;

function keysOf(commit: Commit): string[] {
  return results.map(({ kind, idle }) => writeKey(commit, kind, idle));
}

/** True when the commit may have been recorded before: it is not the next one of the claim that holds. */
function mayBeRepeated({ token, number }: Commit, row: LockedRow): boolean {
  return row.token !== token || row.commits >= number;
}

export function askRecordedCommit(commit: Commit, row: LockedRow, facts: Facts): void {
  if (mayBeRepeated(commit, row)) facts.askRecorded(commit.executionId, keysOf(commit));
}

export function recordedCommit(commit: Commit, row: LockedRow, facts: Facts): CommitResult | undefined {
  if (!mayBeRepeated(commit, row)) return undefined;
  const found = facts.recorded(commit.executionId);
  if (found !== undefined) {
    const result = results[keysOf(commit).indexOf(found.key)] ?? results[0];
    return { ...result, sequence: found.sequence };
  }
  // It had no events, so the journal does not show it; nothing has to be numbered either.
  if (row.token !== commit.token) return undefined;
  // With events to follow it would be in the journal, had it not been recorded under a pause that is over.
  const wasPaused = row.paused || commit.following.length > 0;
  return { kind: wasPaused ? "paused" : "ok", sequence: row.sequence, idle: false };
}
