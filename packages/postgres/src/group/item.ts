// A write that waits for its group.
import type { NewExecution } from "@andante/core/store";
import type { Changes } from "../write/changes.ts";
import type { Facts } from "../write/facts.ts";
import type { GroupOperation } from "../write/operation.ts";
import type { LockedRow } from "../write/row.ts";
import type { SwiftCommit } from "./swift-commit.ts";

/** An operation together with its argument and with whoever waits for its result. */
export interface BoundWrite {
  ask(row: LockedRow | undefined, facts: Facts): void;
  /** Returns a function that tells the result, to be called once the group is committed. */
  decide(row: LockedRow | undefined, facts: Facts, changes: Changes): () => void;
}

export function bind<Argument, Result>(
  operation: GroupOperation<Argument, Result>,
  argument: Argument,
  resolve: (result: Result) => void,
): BoundWrite {
  return {
    ask: (row, facts) => operation.ask?.(argument, row, facts),
    decide: (row, facts, changes) => {
      const result = operation.decide(argument, row, facts, changes);
      return () => resolve(result);
    },
  };
}

/** An execution that is to be created. */
export interface Creation {
  readonly execution: NewExecution;
  resolve(result: { readonly created: boolean }): void;
}

export interface GroupItem {
  readonly operation: string;
  /** About how many characters it writes. */
  readonly length: number;
  readonly executionId: string;
  readonly does:
    | { readonly creation: Creation }
    | {
        readonly write: BoundWrite /** Where it may be done at once. */;
        readonly swift?: SwiftCommit | undefined;
      };
  /** Its caller is waiting and can come again: refused at once while the database is in trouble. */
  readonly isIntake: boolean;
  /** The claim that it takes, to be given back when its caller has been told that nothing came of it. */
  readonly claims?: string | undefined;
  reject(error: Error): void;
}
