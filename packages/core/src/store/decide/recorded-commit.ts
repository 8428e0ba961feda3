// A commit that is repeated because its result was lost: finds the first result.
import type { Commit, CommitResult } from "../store.ts";
import type { FactRequests, Facts } from "./facts.ts";
import type { ExecutionRecord } from "./record.ts";

/** The key of a commit in the journal: the end of the claim's token, the number of the commit, and its result. */
export function writeKey(
  { token, number }: Pick<Commit, "token" | "number">,
  kind: "ok" | "paused",
  idle: boolean,
): string {
  return `${token.slice(-12)}.${number}.${kind}${idle ? ".idle" : ""}`;
}

/** The results that a recorded commit can have had. */
const results = [
  { kind: "ok", idle: false },
  { kind: "ok", idle: true },
  { kind: "paused", idle: false },
  { kind: "paused", idle: true },
] as const;

function keysOf(commit: Commit): string[] {
  return results.map(({ kind, idle }) => writeKey(commit, kind, idle));
}

/** True unless the commit is the next one of the current claim. */
function mayBeRepeated({ token, number }: Commit, record: ExecutionRecord): boolean {
  return record.token !== token || record.commits >= number;
}

export function requestRecordedCommit(commit: Commit, record: ExecutionRecord, requests: FactRequests): void {
  if (mayBeRepeated(commit, record)) requests.recorded(commit.executionId, keysOf(commit));
}

export function recordedCommit(
  commit: Commit,
  record: ExecutionRecord,
  facts: Facts,
): CommitResult | undefined {
  if (!mayBeRepeated(commit, record)) return undefined;
  const keys = keysOf(commit);
  const found = facts.recorded(commit.executionId, keys);
  if (found !== undefined) {
    const result = results[keys.indexOf(found.key)] ?? results[0];
    return { ...result, sequence: found.sequence };
  }
  // It had no events, so the journal does not show it, and nothing has to be numbered either.
  if (record.token !== commit.token) return undefined;
  // Events of `following` would be in the journal, unless the commit was recorded under a pause that is over.
  const wasPaused = record.paused || commit.following.length > 0;
  return { kind: wasPaused ? "paused" : "ok", sequence: record.sequence, idle: false };
}
