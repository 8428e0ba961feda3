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
 * True when the row is older than what the owner of its claim knows. Other writers only add events, so a row may be newer.
 * The number of the commit shows a loss also where others have written as many events since as were lost.
 */
export function hasLost({ number, after = 0, idle }: Commit, row: ClaimedRow): boolean {
  return number > row.commits + 1 || after > row.sequence || (idle?.resumes ?? 0) > row.resumes;
}
