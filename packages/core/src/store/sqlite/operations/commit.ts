// Commits a step forward of an execution: in one statement where that is enough, otherwise by its decision.
import type { DatabaseSync } from "node:sqlite";
import { decisions } from "../../decide/index.ts";
import type { Commit, CommitResult } from "../../store.ts";
import { type PackedCommit, unpackCommit } from "../packed-commit.ts";
import type { PerformDecision } from "../perform-decision.ts";
import { quickCommit } from "../quick-statements.ts";
import type { SearchFrontier } from "../search-frontier.ts";

export function commit(database: DatabaseSync, perform: PerformDecision, search: SearchFrontier) {
  const atOnce = quickCommit(database, search);
  return (argument: Commit | PackedCommit): CommitResult =>
    atOnce(argument) ?? perform(decisions.commit, unpackCommit(argument));
}
