// The commits that a statement of a store may record at once, without the decision.
import type { Commit } from "../store.ts";

/** The fields of a commit that quick statements know. */
const known: ReadonlySet<string> = new Set<keyof Commit>([
  "executionId",
  "token",
  "number",
  "after",
  "events",
  "open",
  "closeEnded",
  "following",
  "closeBelow",
  "timers",
  "clear",
  "stepIndex",
  "progress",
  "end",
  "idle",
  "usage",
  "others",
]);

/** Whether it adds no usage and has no field that quick statements do not know, such as one that is new. */
export function isPlain(commit: Commit): boolean {
  if (commit.usage !== null || commit.others !== undefined) return false;
  for (const name in commit) if (!known.has(name)) return false;
  return true;
}
