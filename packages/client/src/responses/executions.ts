// Workflows and executions with the types of one workflow, which the generated types of responses do not have.
import type * as wire from "./wire.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface WorkflowSummary<Id extends string = string> extends wire.WorkflowSummary {
  readonly id: Id;
}

interface ResultFields extends Omit<wire.ExecutionResult, "status" | "result" | "suspension"> {}

interface CompletedResult<Result> extends ResultFields {
  readonly status: "completed";
  /** The workflow's output; null when its last step returned nothing. */
  readonly result: Result extends undefined ? null : Result;
  readonly suspension?: wire.Suspension | undefined;
}

interface SuspendedResult<Result> extends ResultFields {
  readonly status: "suspended";
  readonly result: NoResult<Result>;
  /** The first open suspension. */
  readonly suspension: wire.Suspension;
}

interface OtherResult<Result> extends ResultFields {
  readonly status: "running" | "error" | "cancelled";
  readonly result: NoResult<Result>;
  /** Present also while other branches run. */
  readonly suspension?: wire.Suspension | undefined;
}

/** `unknown` where the type of the result is `unknown`: a union with null would be `unknown` too. */
type NoResult<Result> = unknown extends Result ? unknown : null;

/** The status of an execution. A `completed` one has a `result`, a `suspended` one a `suspension`. */
export type ExecutionResult<Result = unknown> =
  | CompletedResult<Result>
  | SuspendedResult<Result>
  | OtherResult<Result>;

interface StateFields<Input> extends Omit<wire.ExecutionState, keyof wire.ExecutionResult | "input"> {
  readonly input: Input;
}

/** The full state of an execution. */
export type ExecutionState<Result = unknown, Input = unknown> = ExecutionResult<Result> & StateFields<Input>;
