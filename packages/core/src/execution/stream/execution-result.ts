// The types of an execution for callers: its suspension, its result, and its whole state.
import type { StoredUsage } from "../../store/conversation-store.ts";
import type { ExecutionStatus, ReplayOf } from "../../store/store.ts";
import type { JsonSchema } from "../../values/schema.ts";

/** Where an execution waits. */
export interface ExecutionSuspension {
  readonly suspensionId: string;
  /** ISO 8601. */
  readonly suspendedAt: string;
  /** "" when the step passed none. */
  readonly reason: string;
  /** The index of the top-level step, also when something inside it waits. */
  readonly suspendedStepIndex: number;
  readonly stepIndex: number;
  /** The id of the step that waits; for a pause, of the top-level step that ran or came next. */
  readonly stepId: string;
  /** The path of the step that waits; absent for a pause. */
  readonly stepPath?: string;
  /** The data that the step passed to `suspend`. */
  readonly data?: unknown;
  /** The schema of resume data. */
  readonly resumeSchema?: JsonSchema;
  /** The deadline, ISO 8601; absent without one. */
  readonly deadline?: string;
  /** The effect of the deadline: resume data, a failure or a cancellation; absent in events. */
  readonly onDeadline?: { readonly resume: unknown } | "fail" | "cancel";
  /** The events that end it; a key of null is any. Absent without one. */
  readonly events?: readonly { readonly name: string; readonly key: string | null }[];
  /** Who is to decide: the option `to` of `suspend`. Absent without it. */
  readonly to?: string;
}

/** The fields of an execution in every state. */
export interface ResultFields {
  readonly executionId: string;
  readonly startAt: string;
  readonly endAt: string | null;
  readonly status: ExecutionStatus;
  /** The workflow's output; null unless completed. */
  readonly result: unknown;
  /** The first that is open: also while other branches run. */
  readonly suspension?: ExecutionSuspension;
  /** Why it failed: the step's own words only when it threw a `PublicError`. */
  readonly error?: string;
  /** Tokens and model calls of its agents, when there were any. */
  readonly usage?: StoredUsage;
}

interface CompletedResult<Result> extends ResultFields {
  readonly status: "completed";
  /** The workflow's output; null when its last step gave nothing. */
  readonly result: Result extends undefined ? null : Result;
}

interface SuspendedResult<Result> extends ResultFields {
  readonly status: "suspended";
  readonly result: NoResult<Result>;
  readonly suspension: ExecutionSuspension;
}

interface OtherResult<Result> extends ResultFields {
  readonly status: Exclude<ExecutionStatus, "completed" | "suspended">;
  readonly result: NoResult<Result>;
}

/** Where nothing is known of the result, nothing is gained by telling it from null. */
type NoResult<Result> = unknown extends Result ? unknown : null;

/**
 * The state of an execution when execute, resume or cancel return. The status determines the fields: once it is `completed`,
 * the `result`; while it is `suspended`, the `suspension`.
 */
export type ExecutionResult<Result = unknown> =
  | CompletedResult<Result>
  | SuspendedResult<Result>
  | OtherResult<Result>;

/** An execution in full. */
export type ExecutionState<Result = unknown, Input = unknown> = ExecutionResult<Result> & StateFields<Input>;

/** The schedule that has started an execution, with the nominal time of the occurrence; or the event, with its time. */
export type ExecutionCause =
  | { readonly scheduleId: string; readonly at: string }
  | { readonly eventId: string; readonly event: string; readonly at: string };

interface StateFields<Input> {
  readonly workflowId: string;
  readonly input: Input;
  readonly context: Record<string, unknown>;
  /** Every open suspension, when there is one. */
  readonly suspensions?: readonly ExecutionSuspension[];
  /** When it has any. */
  readonly tags?: readonly string[];
  /** When no process may run it: the workflow has changed, and this names the change. */
  readonly parked?: { readonly reason: string };
  /** When it replays another one. */
  readonly replayOf?: ReplayOf;
  /** When a schedule or an event has started it. */
  readonly cause?: ExecutionCause;
}
