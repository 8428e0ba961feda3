// A write to one execution, as a group performs it: its row is locked, what else it needs is read, then it decides.
import type { Changes } from "./changes.ts";
import type { Facts } from "./facts.ts";
import type { LockedRow } from "./row.ts";

export interface GroupOperation<Argument, Result> {
  /** Asks for what it has to know beside the row, which is undefined when there is none. */
  ask?(argument: Argument, row: LockedRow | undefined, facts: Facts): void;
  /** Changes the row and collects what is to be written; whoever changes it tells so with `changes.row`. */
  decide(argument: Argument, row: LockedRow | undefined, facts: Facts, changes: Changes): Result;
}
