// The events of a journal: everything that is written to one, and everything that can be read from one.
//
// The union is the one truth about their fields. The store keeps them in another form: see codec.ts.
import type { FactChange } from "../store/fact-store.ts";
import type { StoredUsage } from "../store/usage.ts";
import type { JsonText } from "../values/json.ts";
import type { Failure } from "./failure.ts";

/** The usage of a step's agents. */
export type StepUsage = StoredUsage;

interface EventOf<Type extends string> {
  readonly type: Type;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}

/** An event of a step, or of a function beside its body. */
interface StepEventOf<Type extends string> extends EventOf<Type> {
  readonly path: string;
  /** The index of the top-level step that `path` belongs to. */
  readonly stepIndex: number;
  readonly stepType: string;
}

/** The fields of a suspension that its events repeat. */
interface Suspending {
  readonly suspensionId: string;
  readonly reason: string;
  readonly suspendedAt: number;
  /** When it ends by itself, in milliseconds since 1970; undefined for never. */
  readonly deadline: number | undefined;
  /** The data that the step passed to `suspend`. */
  readonly data: JsonText;
  /** The JSON Schema of its resume data, where the definition of the workflow does not say it. */
  readonly resumeSchema?: JsonText;
}

export interface WorkflowStartEvent extends EventOf<"workflow-start"> {
  /** The input as the schema returned it, where that differs from the caller's input. */
  readonly input: JsonText;
  /** The caller's W3C header. */
  readonly traceparent: string | undefined;
  readonly replayOf: { readonly executionId: string; readonly stepId: string } | undefined;
}

export interface StepStartEvent extends StepEventOf<"step-start"> {
  readonly input: JsonText;
}

export interface StepCompleteEvent extends StepEventOf<"step-complete"> {
  readonly output: JsonText;
  /** Only where an agent was asked. */
  readonly usage: StepUsage | undefined;
}

/** A function beside a step's body has returned: a condition, a list of items, a date, a prompt. */
export interface StepEvaluatedEvent extends StepEventOf<"step-evaluated"> {
  readonly output: JsonText;
}

export interface StepSkippedEvent extends StepEventOf<"step-skipped"> {}

export interface StepBailedEvent extends StepEventOf<"step-bailed"> {
  readonly result: JsonText;
}

export interface StepErrorEvent extends StepEventOf<"step-error"> {
  readonly error: Failure;
}

/** An attempt failed, and another one follows. */
export interface StepRetryEvent extends StepEventOf<"step-retry"> {
  readonly error: Failure;
  /** The attempt that failed; 1 is the first. */
  readonly attempt: number;
  /** The next one starts at this time or later. */
  readonly retryAt: number;
}

export interface StepSuspendedEvent extends StepEventOf<"step-suspended">, Suspending {}

export interface StateChangedEvent extends StepEventOf<"state-changed"> {
  /** The keys that a body set, a JSON object. */
  readonly patch: string;
}

/** A body sent an event of its own. */
export interface EmittedEvent extends StepEventOf<"emitted"> {
  /** The type that the body gave it. */
  readonly name: string;
  readonly attempt: number;
  readonly data: JsonText;
}

/** Work inside a body was done: when the body runs again, it gets this output. */
export interface CheckpointCompleteEvent extends StepEventOf<"checkpoint-complete"> {
  readonly output: JsonText;
  /** When the attempt that succeeded began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The attempt of the checkpoint that succeeded; 1 is the first. */
  readonly attempt: number;
  /** Only for a call of an agent: the model or tool. */
  readonly call: CheckpointCall | undefined;
  /** Only of a call of a model. */
  readonly usage: StepUsage | undefined;
}

/** The model or tool that an agent called. */
export type CheckpointCall =
  | {
      readonly kind: "model";
      /** Provider and name. */
      readonly model: string;
      /** The agent that called it. */
      readonly agentId?: string | undefined;
      /** A hash of the prompt. */
      readonly prompt: string;
    }
  | {
      readonly kind: "tool";
      readonly toolName: string;
      /** As the provider gave it; some give the same one again in the next call. */
      readonly toolCallId: string;
      /** The change of facts that it has made. Default: none. */
      readonly fact?: FactChange;
    }
  /** Messages that the next call of the model reads. */
  | { readonly kind: "steering" }
  /** An agent whose calls cannot be seen, as a whole. */
  | { readonly kind: "agent"; readonly agentId?: string | undefined };

/** An attempt of a checkpoint failed, and its body waits to make another one. */
export interface CheckpointRetryEvent extends StepEventOf<"checkpoint-retry"> {
  readonly error: Failure;
  /** The attempt that failed; 1 is the first. */
  readonly attempt: number;
  /** The attempt of the step that it counts for. */
  readonly stepAttempt: number;
  /** The next one starts at this time or later. */
  readonly retryAt: number;
}

/** The execution is suspended: by a step, or by a pause, which has no path. */
export interface WorkflowSuspendedEvent extends EventOf<"workflow-suspended">, Suspending {
  readonly path: string | null;
  readonly stepIndex: number;
  /** Who paused it. */
  readonly userId: string | undefined;
}

/** A suspension was resumed: a step's by its path, a pause without one. */
export interface WorkflowResumedEvent extends EventOf<"workflow-resumed"> {
  readonly path: string | null;
  readonly stepIndex: number;
  readonly suspensionId: string;
  readonly resumeData: JsonText;
  readonly userId: string | undefined;
  /** True when its deadline resumed it. */
  readonly byDeadline: boolean;
  /** True when the deadline fails the step instead of giving it data. */
  readonly expired: boolean;
  /** Milliseconds that the pause which it lifts has lasted; absent for any other suspension. */
  readonly pausedFor?: number;
  /** The event from outside that has resumed it. */
  readonly event?: TakenEvent;
  /** The step did not wait yet: its next suspension ends with this decision. Default: it waited. */
  readonly early?: true;
  /** The label of the link that it was decided by; "" for one without a label. Default: no link. */
  readonly link?: string;
}

/** An event from outside that an execution has taken. */
export interface TakenEvent {
  readonly eventId: string;
  readonly name: string;
  readonly key: string | null;
  /** Its number among the events from outside. */
  readonly seq: number;
}

/** The execution went back to a top-level step: outcomes at or after it no longer count. */
export interface ExecutionRewoundEvent extends EventOf<"execution-rewound"> {
  readonly path: string;
  readonly stepIndex: number;
  readonly resumeData: JsonText;
  readonly userId: string | undefined;
}

export interface WorkflowCompleteEvent extends EventOf<"workflow-complete"> {
  readonly result: JsonText;
}

export interface WorkflowErrorEvent extends EventOf<"workflow-error"> {
  readonly error: Failure;
}

export interface WorkflowCancelledEvent extends EventOf<"workflow-cancelled"> {
  readonly reason: string | undefined;
  readonly userId: string | undefined;
  /** The suspension whose deadline cancelled the execution. */
  readonly suspensionId: string | undefined;
}

/** How a step, or a function beside it, ended. */
export type OutcomeEvent =
  | StepCompleteEvent
  | StepEvaluatedEvent
  | StepSkippedEvent
  | StepBailedEvent
  | StepErrorEvent;

/** How an execution ended. */
export type EndEvent = WorkflowCompleteEvent | WorkflowErrorEvent | WorkflowCancelledEvent;

/** An event before the store has numbered it. */
export type NewEvent =
  | WorkflowStartEvent
  | StepStartEvent
  | OutcomeEvent
  | StepRetryEvent
  | StepSuspendedEvent
  | StateChangedEvent
  | EmittedEvent
  | CheckpointCompleteEvent
  | CheckpointRetryEvent
  | WorkflowSuspendedEvent
  | WorkflowResumedEvent
  | ExecutionRewoundEvent
  | EndEvent;

export type EventType = NewEvent["type"];

/** An event with its number in the journal: 1, 2, 3 … */
export type Numbered<Event extends NewEvent = NewEvent> = Event & { readonly sequence: number };

/** One line of a journal. */
export type JournalEvent = Numbered;

/** The status of an execution that ended with an event of this type. */
export const endStatus = {
  "workflow-complete": "completed",
  "workflow-error": "error",
  "workflow-cancelled": "cancelled",
} as const satisfies Record<EndEvent["type"], string>;

/** True for the event with which an execution ended. */
export function isEnd<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: EndEvent["type"] }> {
  return Object.hasOwn(endStatus, event.type);
}

/** The length of an event's main text: about the memory that it takes. */
export function eventLength(event: NewEvent): number {
  return mainText(event)?.length ?? 0;
}

function mainText(event: NewEvent): JsonText {
  switch (event.type) {
    case "workflow-start":
    case "step-start":
      return event.input;
    case "step-complete":
    case "step-evaluated":
    case "checkpoint-complete":
      return event.output;
    case "step-bailed":
    case "workflow-complete":
      return event.result;
    case "step-error":
    case "step-retry":
    case "checkpoint-retry":
    case "workflow-error":
      return event.error.message;
    case "step-suspended":
    case "workflow-suspended":
    case "emitted":
      return event.data;
    case "workflow-resumed":
    case "execution-rewound":
      return event.resumeData;
    case "state-changed":
      return event.patch;
    case "workflow-cancelled":
      return event.reason;
    case "step-skipped":
      return undefined;
    default:
      return unknownEvent(event);
  }
}

const outcomes: Readonly<Record<OutcomeEvent["type"], true>> = {
  "step-complete": true,
  "step-evaluated": true,
  "step-skipped": true,
  "step-bailed": true,
  "step-error": true,
};
const outcomeTypes: ReadonlySet<string> = new Set(Object.keys(outcomes));

/** True for the event that records how a step, or a function beside it, ended. */
export function isOutcome<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: OutcomeEvent["type"] }> {
  return outcomeTypes.has(event.type);
}

/**
 * The events as they stand in a journal whose next number is `first`. They are the same objects: an event is recorded once,
 * and copies of all of them took a fiftieth of the time of a resume.
 */
export function numberEvents(
  events: readonly (NewEvent & { sequence?: number })[],
  first: number,
): JournalEvent[] {
  return events.map((event, index) => numbered(event, first + index));
}

function numbered(event: NewEvent & { sequence?: number }, sequence: number): JournalEvent {
  event.sequence = sequence;
  return event as JournalEvent;
}

/** Never called: the compiler refuses a `switch` over events that reaches it. */
export function unknownEvent(event: never): never {
  throw new TypeError(`Unknown journal event: ${JSON.stringify(event)}`);
}
