// A write that waits for its group.
import type {
  Changes,
  Decision,
  ExecutionRecord,
  FactRequests,
  Facts,
  NewExecution,
} from "@andante/core/store";
import type { FastCommit } from "./fast-commit.ts";

/** A decision with its argument and its caller. */
export interface BoundWrite {
  request(record: ExecutionRecord | undefined, requests: FactRequests): void;
  /** Returns a function that resolves the call with the result, to be called once the group is committed. */
  decide(record: ExecutionRecord | undefined, facts: Facts, changes: Changes): () => void;
}

export function bind<Argument, Result>(
  decision: Decision<Argument, Result>,
  argument: Argument,
  resolve: (result: Result) => void,
): BoundWrite {
  return {
    request: (record, requests) => decision.request?.(argument, record, requests),
    decide: (record, facts, changes) => {
      const result = decision.decide(argument, record, facts, changes);
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
        readonly fast?: FastCommit | undefined;
      };
  /** Its caller is waiting and can come again: refused at once while the database is in trouble. */
  readonly isIntake: boolean;
  /** The claim that it takes, to be given back when its caller was refused. */
  readonly claims?: string | undefined;
  reject(error: Error): void;
}
