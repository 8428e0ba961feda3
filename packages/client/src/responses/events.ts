// The events of an execution in streams and journals.
import type { ExecutionResult } from "./executions.ts";
import type { ReplayOf, Suspension, Usage } from "./wire.ts";

interface EventOf<Type extends string> {
  readonly type: Type;
  readonly executionId: string;
  /** ISO 8601. */
  readonly timestamp: string;
}

/** An event that is stored in the journal, with its number. */
interface JournaledEvent<Type extends string> extends EventOf<Type> {
  readonly sequence: number;
}

interface StepPlace {
  /** The id of the step. */
  readonly from: string;
  readonly stepPath: string;
  /** The index of its top-level step. */
  readonly stepIndex: number;
  readonly stepType: string;
}

interface StepEventOf<Type extends string> extends JournaledEvent<Type>, StepPlace {}

/** In a stream the public message; in a journal the error in full. */
export type EventError =
  | string
  | { readonly name: string; readonly message: string; readonly step?: string | undefined };

export interface WorkflowStartEvent extends JournaledEvent<"workflow-start"> {
  readonly replayOf?: ReplayOf | undefined;
}
export interface StepStartEvent extends StepEventOf<"step-start"> {
  readonly input: unknown;
}
export interface StepCompleteEvent extends StepEventOf<"step-complete"> {
  readonly output: unknown;
  readonly usage?: Usage | undefined;
}
/** The evaluated condition, list of items, date or prompt of a step. */
export interface StepEvaluatedEvent extends StepEventOf<"step-evaluated"> {
  readonly output: unknown;
}
export interface StepSkippedEvent extends StepEventOf<"step-skipped"> {}
export interface StepErrorEvent extends StepEventOf<"step-error"> {
  readonly error: EventError;
}
export interface StepRetryEvent extends StepEventOf<"step-retry" | "checkpoint-retry"> {
  readonly error: EventError;
  readonly attempt: number;
  readonly retryAt: string;
}
export interface StepBailedEvent extends StepEventOf<"step-bailed"> {
  readonly result: unknown;
}
export interface StepSuspendedEvent extends StepEventOf<"step-suspended"> {
  readonly suspension: Suspension;
}
export interface StateChangedEvent extends StepEventOf<"state-changed"> {
  /** The changed keys. */
  readonly state: Readonly<Record<string, unknown>>;
}
export interface CheckpointCompleteEvent extends StepEventOf<"checkpoint-complete"> {
  readonly output: unknown;
  readonly attempt: number;
  readonly startedAt: string;
  /** Of a call of an agent: the model or tool. */
  readonly call?: Readonly<Record<string, unknown>> | undefined;
  readonly usage?: Usage | undefined;
}
export interface WorkflowSuspendedEvent extends JournaledEvent<"workflow-suspended"> {
  readonly suspension: Suspension;
  readonly userId?: string | undefined;
}
export interface WorkflowResumedEvent extends JournaledEvent<"workflow-resumed"> {
  readonly from?: string | undefined;
  readonly stepPath?: string | undefined;
  readonly stepIndex: number;
  readonly suspensionId: string;
  readonly resumeData: unknown;
  /** It was not resumed in time, and its deadline passed. */
  readonly byDeadline?: boolean | undefined;
  /** The step did not wait yet: its next suspension ends with this decision. */
  readonly early?: boolean | undefined;
  /** The label of the link that it was decided by; "" for one without a label. */
  readonly link?: string | undefined;
  readonly userId?: string | undefined;
}
export interface ExecutionRewoundEvent extends JournaledEvent<"execution-rewound"> {
  readonly from: string;
  readonly stepPath: string;
  readonly stepIndex: number;
  readonly resumeData: unknown;
  readonly userId?: string | undefined;
}
export interface WorkflowCompleteEvent<Result = unknown> extends JournaledEvent<"workflow-complete"> {
  readonly result: Result extends undefined ? null : Result;
}
export interface WorkflowErrorEvent extends JournaledEvent<"workflow-error"> {
  readonly error: EventError;
}
export interface WorkflowCancelledEvent extends JournaledEvent<"workflow-cancelled"> {
  readonly reason?: string | undefined;
  readonly userId?: string | undefined;
}
/** A delta of an agent's reply. Not stored: after a lost connection some may be missing. */
export interface TextDeltaEvent extends EventOf<"text-delta">, StepPlace {
  readonly delta: string;
}
/** Activity of an agent's tool, as it happens. Not kept in this form: its call becomes a `checkpoint-complete`. */
interface ToolEventOf<Type extends string> extends EventOf<Type>, StepPlace {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}
export interface ToolCallEvent extends ToolEventOf<"tool-call"> {}
export interface ToolResultEvent extends ToolEventOf<"tool-result"> {
  readonly output: unknown;
  /** Another output of the same call follows. */
  readonly preliminary?: boolean | undefined;
}
export interface ToolErrorEvent extends ToolEventOf<"tool-error"> {
  readonly error: string;
}
/** The last event of a stream: the status of the execution. Not stored. */
export type WorkflowResultEvent<Result = unknown> = EventOf<"workflow-result"> & ExecutionResult<Result>;

/** The argument of `emit`, under the given name. */
export type EmittedEvent<Emits> = {
  [Name in keyof Emits & string]: StepEventOf<Name> & {
    readonly data: Emits[Name];
    readonly attempt: number;
  };
}[keyof Emits & string];

/** Every event of a journal. `Emits` are the workflow's custom events: `{ progress: { percent: number } }`. */
export type JournalEvent<Result = unknown, Emits = Record<never, never>> =
  | WorkflowStartEvent
  | StepStartEvent
  | StepCompleteEvent
  | StepEvaluatedEvent
  | StepSkippedEvent
  | StepErrorEvent
  | StepRetryEvent
  | StepBailedEvent
  | StepSuspendedEvent
  | StateChangedEvent
  | CheckpointCompleteEvent
  | WorkflowSuspendedEvent
  | WorkflowResumedEvent
  | ExecutionRewoundEvent
  | WorkflowCompleteEvent<Result>
  | WorkflowErrorEvent
  | WorkflowCancelledEvent
  | EmittedEvent<Emits>;

/** Every event of a stream. */
export type ExecutionEvent<Result = unknown, Emits = Record<never, never>> =
  | JournalEvent<Result, Emits>
  | TextDeltaEvent
  | ToolCallEvent
  | ToolResultEvent
  | ToolErrorEvent
  | WorkflowResultEvent<Result>;
