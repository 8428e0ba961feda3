// The argument of a step's body.
import type { AnyEvent, EventDefinition, SendOptions } from "../event/define-event.ts";
import type { Logger } from "../observe/log/logger.ts";
import type { Duration } from "../values/duration.ts";
import type { Json } from "../values/json.ts";
import type { RetryOptions } from "./retry.ts";

/** The end of a suspension that is not resumed in time. */
export interface DeadlineOptions<Resume = unknown> {
  /** From now, or a date. Default: none, it waits for ever. */
  readonly deadline?: Duration | Date;
  /** The action: the step is resumed with this value, fails, or the execution is cancelled. Default: `fail`. */
  readonly onDeadline?: { readonly resume: Resume } | "fail" | "cancel";
}

/** The events that end a suspension. */
export interface EventWaitOptions {
  /** One, or several of which the first counts: then the resume data are `{ name, data }`, else its data. */
  readonly event?: AnyEvent | readonly AnyEvent[] | undefined;
  /** Only events with this key. Default: any of the name. */
  readonly key?: string | undefined;
  /**
   * How far it looks back: to the start of the execution, not at all, or for a while. Events that this execution has taken
   * do not count again. Default: `start`.
   */
  readonly since?: "start" | "now" | Duration | undefined;
}

/** Options of `suspend`. The notifications are events for the endpoints of the host, kept with the suspension. */
export interface SuspendOptions<Resume = unknown> extends DeadlineOptions<Resume>, EventWaitOptions {
  /** Who is to decide, such as an address. Default: not known. */
  readonly to?: string;
  /** Between the reminders that are sent while the step waits, at least a minute. Default: none are sent. */
  readonly remind?: Duration;
  /** A notification for someone else after a time, while the step still waits. Default: none. */
  readonly escalate?: { readonly after: Duration; readonly to?: string };
  /** Puts a link to the decision into the notifications. Default: none; it expires after 7 days. */
  readonly link?: true | Pick<LinkOptions, "expires">;
}

/** Options of a link to the decision of a step. */
export interface LinkOptions {
  /** Who gets the link, such as an address; kept in the journal as the `userId` of the decision. Default: not known. */
  readonly to?: string;
  /** From now, or a date. Default: 7 days. */
  readonly expires?: Duration | Date;
  /** The resume data of the link: its page has one button. Default: the page has a form for the resume data. */
  readonly resume?: unknown;
  /** The text of that button, at most 100 characters. Default: "Confirm". */
  readonly label?: string;
}

/** The state that an execution's steps share: a JSON object. */
export type WorkflowState = Readonly<Record<string, unknown>>;

/** Input and output of an earlier step, as `getStepData` returns them. */
export interface StepData {
  readonly input: unknown;
  readonly output: unknown;
}

/** Options of a checkpoint. */
export interface CheckpointOptions {
  /** Runs work that failed again, within this attempt of the step. Default: no second attempt. */
  readonly retry?: RetryOptions;
  /** How long one attempt may take; then its signal is aborted and the attempt has failed. Default: no limit. */
  readonly timeout?: Duration;
}

/** The argument of the work of a checkpoint. */
export interface CheckpointContext {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same on every attempt and every node: pass it to the services that the work calls. */
  readonly idempotencyKey: string;
  /** Aborted with the step's, and when the checkpoint takes longer than its timeout. */
  readonly signal: AbortSignal;
}

/** The types that flow into one step: its data, the workflow's input, its resume data. */
export interface StepTypes {
  readonly data: unknown;
  readonly input: unknown;
  readonly resume: unknown;
  readonly suspend: unknown;
}

/** The context of a running body. Each attempt gets a new one with its own copy of the data. */
export interface StepContext<T extends StepTypes = StepTypes> {
  /** The output of the step before; the workflow's input for the first one. */
  readonly data: T["data"];
  /** The input of the workflow that holds this step. */
  readonly input: T["input"];
  readonly executionId: string;
  readonly workflowId: string;
  /** The address of this step inside the execution, such as `fan-out/left`. */
  readonly stepPath: string;
  /** 1 for the first attempt. A run after a crash or a resume is not a new attempt. */
  readonly attempt: number;
  /** The same on every attempt and every node: pass it to the services that this body calls. */
  readonly idempotencyKey: string;
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  /** The entries of the caller's `options.context` and, when authenticated, `user` and `userId`. */
  readonly context: ReadonlyMap<string, unknown>;
  /** The data of the resume: undefined before it, null for a resume without data. */
  readonly resumeData: T["resume"] | undefined;
  /** The data that this step passed to `suspend` before it was resumed. */
  readonly suspendData: T["suspend"] | undefined;
  /**
   * Stops here until someone resumes the execution. Never returns: write `return suspend("…")`.
   * After the resume THE BODY RUNS AGAIN FROM ITS TOP, then with `resumeData`.
   */
  suspend(reason?: string, data?: T["suspend"], options?: SuspendOptions<T["resume"]>): never;
  /**
   * The address of a page on which a person decides about a step of this execution that waits, now or later: it resumes the
   * step with their data. The step is one beside this one, or any by its path. Signed, for one wait of that step; the option
   * `links` of the host names the address and the secret.
   */
  link(stepId: string, options?: LinkOptions): string;
  /** Ends the innermost workflow now, with this result. Never returns: write `return bail(…)`. */
  bail(result?: unknown): never;
  /** The state that the steps of this execution share, with the changes of this body so far. */
  readonly state: WorkflowState;
  /**
   * Sets keys of the state, merged key by key. A function gets the state and returns the keys to set: it is called at
   * once, and again when the outcome is recorded if another branch has changed the state meanwhile. Dropped when the
   * attempt fails or suspends.
   */
  setState(patch: WorkflowState | ((state: WorkflowState) => WorkflowState)): void;
  /**
   * Sends an event to workflows: with the commit of this body's outcome, so not when it fails or suspends. The event belongs to
   * the user of the execution.
   */
  send<Accepts>(
    event: EventDefinition<Accepts>,
    data: NoInfer<Accepts>,
    options?: Pick<SendOptions, "id" | "key">,
  ): void;
  /** Sends an event of your own to the stream, in order, kept in the journal. Types of Andante's own events are refused. */
  emit(type: string, data?: unknown): void;
  /**
   * Does work inside this body and records its return value: when the body runs again, after a crash, a retry, a timeout or
   * a suspension, it gets that instead. The id is unique in the body; the value passes through JSON. A failure is thrown
   * and not recorded. Always await it.
   */
  checkpoint<Output>(
    id: string,
    work: (context: CheckpointContext) => Output,
    options?: CheckpointOptions,
  ): Promise<Json<Awaited<Output>>>;
  /**
   * Input and output of a step that has completed, by id (the newest) or path; undefined when there is none. Of steps in
   * rounds and items that are over, the last 100 are found by path.
   */
  getStepData(stepIdOrPath: string): StepData | undefined;
  /** Aborted when the execution is cancelled, loses its race or must stop; never on a suspension. */
  readonly signal: AbortSignal;
  /** Its lines carry the ids of this execution and this step. */
  readonly logger: Logger;
  /** The W3C header of this step's span: send it to the services that this body calls. Absent when there is no trace. */
  readonly traceparent: string | undefined;
}

/** The context of a function beside a body, such as a condition: it can read, and nothing else. */
export type FunctionContext<Data = unknown, Input = unknown> = Omit<
  StepContext<{ data: Data; input: Input; resume: never; suspend: never }>,
  "suspend" | "resumeData" | "suspendData" | "link" | "bail" | "setState" | "send" | "emit" | "checkpoint"
>;
