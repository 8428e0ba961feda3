// Detects that a store has lost commits: a replica without the last transactions has become the primary.
import type { Commit } from "./store.ts";

/** The columns of a row that describe its claim. */
export interface ClaimedRow {
  /** The number of the last commit under the claim. */
  readonly commits: number;
  /** The number of the last event. */
  readonly sequence: number;
  /** How many events of resumes the journal holds. */
  readonly resumes: number;
}

/**
 * True when the row is older than the knowledge of the claim's owner. Other writers only add events, so a row may be newer.
 * The number of the commit shows a loss also where others have written as many events since as were lost; `timeAt` (the time
 * of the event that `commit.others` names, if the journal has it) shows that another event took its place.
 */
export function hasLost(commit: Commit, row: ClaimedRow, timeAt: number | undefined): boolean {
  const { number, after = 0, idle, others } = commit;
  if (number > row.commits + 1 || after > row.sequence || (idle?.resumes ?? 0) > row.resumes) return true;
  return others !== undefined && others.at !== timeAt;
}
