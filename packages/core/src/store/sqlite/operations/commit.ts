// Commits a step forward of an execution: in one statement where that is enough, otherwise by its decision.
import type { DatabaseSync } from "node:sqlite";
import { decisions } from "../../decide/index.ts";
import type { Commit, CommitResult } from "../../store.ts";
import { type PackedCommit, unpackCommit } from "../packed-commit.ts";
import type { PerformDecision } from "../perform-decision.ts";
import { quickCommit } from "../quick-statements.ts";
import type { SearchFrontier } from "../search-frontier.ts";
import { late } from "./late.ts";
import { keepDelivery } from "./schedules.ts";

export function commit(database: DatabaseSync, perform: PerformDecision, search: SearchFrontier) {
  const atOnce = quickCommit(database, search);
  const keep = late(database, keepDelivery);
  return (argument: Commit | PackedCommit): CommitResult => {
    const isPacked = !("executionId" in argument);
    const made = isPacked || argument.deliveries === undefined ? atOnce(argument) : withDeliveries(argument);
    return made ?? perform(decisions.commit, unpackCommit(argument));
  };

  function withDeliveries({ deliveries = [], ...plain }: Commit): CommitResult | undefined {
    // Those of a suspension are kept where it stays open.
    if (deliveries.some(({ suspensionId }) => suspensionId !== null)) return undefined;
    const made = atOnce(plain);
    if (made !== undefined) for (const { row } of deliveries) keep(row);
    return made;
  }
}
