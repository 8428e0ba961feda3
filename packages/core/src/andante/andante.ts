// Andante as a host sees it: the result of createAndante, and the types of each call, inferred from its workflows.
import type { Agents } from "../agent/agents.ts";
import type { Conversations } from "../agent/conversation/conversations.ts";
import type { Facts } from "../agent/facts.ts";
import type { EventDefinition, EventToSend, SendOptions } from "../event/define-event.ts";
import type { CancelOptions } from "../execution/commands/cancel.ts";
import type { Deliveries } from "../execution/commands/deliveries.ts";
import type { Endpoints } from "../execution/commands/endpoints.ts";
import type { EventReceipt } from "../execution/commands/event-views.ts";
import type { Events } from "../execution/commands/events.ts";
import type { ExecutionHandle } from "../execution/commands/execution-handle.ts";
import type { Links } from "../execution/commands/links.ts";
import type { ExecutionPage, ListOptions } from "../execution/commands/list.ts";
import type { SuspendOptions, SuspendResult } from "../execution/commands/pause.ts";
import type { ReplayOptions } from "../execution/commands/replay.ts";
import type { ResumeOptions } from "../execution/commands/resume.ts";
import type { Schedules } from "../execution/commands/schedules.ts";
import type { SearchOptions, SearchPage } from "../execution/commands/search.ts";
import type { StartOptions } from "../execution/commands/start.ts";
import type { Explanation } from "../execution/stream/explanation.ts";
import type { ExecutionEvent, ExecutionResult, ExecutionState } from "../execution/stream/views.ts";
import type { Logger } from "../observe/log/logger.ts";
import type { Logs } from "../observe/log/logs.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Traces } from "../observe/trace/traces.ts";
import type { BudgetState } from "../observe/usage/budgets.ts";
import type { UsageOptions, UsagePage } from "../observe/usage/read-usage.ts";
import type { Store, StoreHealth } from "../store/store.ts";
import type { Json } from "../values/json.ts";
import type { InferInput, InferResult, InferResume, InferStepId } from "../workflow/chain-types.ts";
import type { WorkflowDescription } from "../workflow/describe-workflow.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import type { ExecutionIds } from "./execution-rows.ts";
import type { AgentRecord, EventRecord, HostTypes } from "./host-types.ts";
import type { Live } from "./live.ts";

/** Workflows as they are registered; a workflow's own id counts, not its key. */
export type WorkflowRecord = Readonly<Record<string, WorkflowDefinition>>;

/** The same workflows by their ids. */
type ById<W extends WorkflowRecord> = { readonly [Key in keyof W as W[Key]["id"]]: W[Key] };

// Spelled out where an id is expected, not named: an error then lists the ids that there are.
type InputOf<W extends WorkflowRecord, Id extends keyof ById<W>> = InferInput<ById<W>[Id]>;
type ResultOf<W extends WorkflowRecord, Id extends keyof ById<W>> = InferResult<ById<W>[Id]>;
type ResumeDataOf<W extends WorkflowRecord, Id extends keyof ById<W>> = InferResume<ById<W>[Id]>;
type StepIdOf<W extends WorkflowRecord, Id extends keyof ById<W>> = InferStepId<ById<W>[Id]>;

/** A workflow as lists show it. */
export interface WorkflowSummary<Id extends string = string> {
  readonly id: Id;
  readonly name: string;
  readonly purpose: string;
  readonly stepsCount: number;
  /** `running` while a body of one of its executions runs in this process. */
  readonly status: "idle" | "running" | "suspended" | "completed" | "error";
}

export type WorkflowDetail = WorkflowSummary & WorkflowDescription;

/** A started execution and its events. */
export interface ExecutionStream {
  readonly executionId: string;
  /** The W3C header that names its root span; absent when it is not traced here. */
  readonly traceparent?: string | undefined;
  readonly events: AsyncIterableIterator<ExecutionEvent>;
}

/** Which events of a journal are read. */
export interface EventsOptions {
  /** Those after this number. Default: 0, from the first. */
  readonly after?: number;
  /** Default: 1000. */
  readonly limit?: number;
}

/**
 * Workflows, agents and their executions without a server. Made by `createAndante`, which knows the types: ids, input,
 * result and resume data of each workflow are checked. Without parameters the type accepts any id and any input: an
 * Andante that knows its workflows can be passed where one that does not is expected.
 *
 * `execute`, `resume` and `replay` wait until the execution ends or is suspended. Each has a twin, `start`,
 * `startResume` and `startReplay`, that returns a handle as soon as the change is committed: three methods rather than
 * an option, because their results differ.
 */
export interface Andante<
  W extends WorkflowRecord = WorkflowRecord,
  A extends AgentRecord = AgentRecord,
  E extends EventRecord = EventRecord,
> {
  /** For the compiler only: the types of workflows and agents for `createClient<typeof app>`. */
  readonly "~types"?: HostTypes<W, A, E>;
  readonly logger: Logger;
  readonly store: Store;
  /** The log lines: `list` those that are kept, `follow` those that come. */
  readonly logs: Logs;
  /** The traces: `list` and `read` those that are kept, `follow` the spans that come. */
  readonly traces: Traces;
  /** The metrics in Prometheus' text format. A server adds its gauges and counts its requests. */
  readonly metrics: Pick<Metrics, "text" | "contentType" | "gauge" | "request">;
  /** The registered agents and their replies. */
  readonly agents: Pick<
    Agents,
    | "list"
    | "read"
    | "check"
    | "text"
    | "object"
    | "stream"
    | "streamObject"
    | "playground"
    | "chat"
    | "start"
    | "reply"
    | "attach"
    | "queue"
    | "withdraw"
    | "decide"
    | "resume"
    | "stop"
  >;
  readonly conversations: Conversations;
  /** When executions start by themselves. */
  readonly schedules: Pick<
    Schedules,
    | "set"
    | "get"
    | "list"
    | "pause"
    | "resume"
    | "trigger"
    | "backfill"
    | "remove"
    | "preview"
    | "occurrences"
    | "idsOf"
  >;
  /** The events that were sent, with all that they have done. */
  readonly sentEvents: Pick<Events, "list" | "definitions">;
  /** Where events of executions are sent. */
  readonly endpoints: Pick<Endpoints, "list" | "get" | "set" | "remove" | "rotate" | "enable">;
  /** The events that are sent to them. */
  readonly deliveries: Pick<Deliveries, "list" | "get" | "redeliver" | "test" | "pushes">;
  /** The decisions behind links that bodies have made, by the last part of their addresses. */
  readonly links: Pick<Links, "read" | "decide">;
  /** The facts that agents keep of users and conversations. */
  readonly facts: Pick<Facts, "read" | "change" | "remove">;
  /** Tokens and money of models by day, user, agent, workflow or model. */
  usage(options: UsageOptions): Promise<UsagePage>;
  /**
   * The budgets over time with their use in the current windows, the 100 highest of each budget; with `userId` only
   * the budgets of this user. Empty where the host has none.
   */
  budgets(options?: { readonly userId?: string | undefined }): Promise<readonly BudgetState[]>;
  /** Changes, counts and open suspensions of all executions. */
  readonly live: Live;
  /** True from the call of `close` on. */
  readonly closing: boolean;

  /**
   * Resolves when the store is open, abandoned executions are loaded and, where there are agents, the AI SDK is too;
   * rejects with the reason when one of them fails. Calls need not wait for it: each waits for the parts it needs.
   */
  ready(): Promise<void>;

  /**
   * Resolves when nothing is under way here: every execution has ended, is suspended or sleeps, and timers that fell due
   * are done. For tests: `clock.advance("2h")`, then `await andante.settled()`. A body that does not end keeps it waiting;
   * agents' replies outside a workflow do not count.
   */
  settled(): Promise<void>;

  /** The registered workflows, in order of registration. */
  workflows(): readonly WorkflowSummary<keyof ById<W> & string>[];

  /** Throws when no workflow of this id is registered. */
  checkWorkflow(workflowId: string): void;

  /** One workflow with its steps and schemas. */
  workflow(workflowId: keyof ById<W> & string): WorkflowDetail;

  /** Starts an execution and waits until it ends or is suspended. A failed one is a result with status `error`. */
  execute<Id extends keyof ById<W> & string>(
    workflowId: Id,
    input: InputOf<W, Id>,
    options?: StartOptions,
  ): Promise<ExecutionResult<ResultOf<W, Id>>>;

  /** Starts an execution and returns as soon as it is committed; it continues by itself. */
  start<Id extends keyof ById<W> & string>(
    workflowId: Id,
    input: InputOf<W, Id>,
    options?: StartOptions,
  ): Promise<ExecutionHandle<ResultOf<W, Id>>>;

  /** Starts an execution and follows it until it ends or is suspended; the last event is `workflow-result`. */
  stream<Id extends keyof ById<W> & string>(
    workflowId: Id,
    input: InputOf<W, Id>,
    options?: StartOptions,
  ): Promise<ExecutionStream>;

  /** Follows any execution from after the given event to its end; undefined when it has ended and nothing is left. */
  attach(
    workflowId: keyof ById<W> & string,
    executionId: string,
    after?: number,
  ): Promise<ExecutionStream | undefined>;

  /** Suspends a running execution from outside. A body in flight may finish; nothing new starts. */
  suspend(
    workflowId: keyof ById<W> & string,
    executionId: string,
    options?: SuspendOptions,
  ): Promise<SuspendResult>;

  /** Resumes an execution with resume data, and waits until it ends or is suspended again. */
  resume<Id extends keyof ById<W> & string>(
    workflowId: Id,
    executionId: string,
    resumeData?: ResumeDataOf<W, Id>,
    options?: ResumeOptions,
  ): Promise<ExecutionResult<ResultOf<W, Id>>>;

  /** Resumes an execution and returns as soon as the resume data is committed; it continues by itself. */
  startResume<Id extends keyof ById<W> & string>(
    workflowId: Id,
    executionId: string,
    resumeData?: ResumeDataOf<W, Id>,
    options?: ResumeOptions,
  ): Promise<ExecutionHandle<ResultOf<W, Id>>>;

  /**
   * Replays an execution that is suspended or has ended from a top-level step, and waits until the new one ends or is
   * suspended. The outcomes of the old one before that step are taken over, with its input, context and tags.
   */
  replay<Id extends keyof ById<W> & string>(
    workflowId: Id,
    executionId: string,
    options: ReplayOptions<StepIdOf<W, Id>>,
  ): Promise<ExecutionResult<ResultOf<W, Id>>>;

  /** Replays an execution and returns as soon as the new one is committed; it continues by itself. */
  startReplay<Id extends keyof ById<W> & string>(
    workflowId: Id,
    executionId: string,
    options: ReplayOptions<StepIdOf<W, Id>>,
  ): Promise<ExecutionHandle<ResultOf<W, Id>>>;

  /** Ends an execution that has not ended yet, also one whose workflow is not registered any more. */
  cancel<Id extends keyof ById<W> & string>(
    workflowId: Id,
    executionId: string,
    options?: CancelOptions,
  ): Promise<ExecutionResult<ResultOf<W, Id>>>;

  /** The state of an execution, also of one whose workflow is not registered any more. */
  state<Id extends keyof ById<W> & string>(
    workflowId: Id,
    executionId: string,
  ): Promise<ExecutionState<ResultOf<W, Id>, Json<InputOf<W, Id>>>>;

  /** The state of an execution by its id alone, without its workflow. */
  find(executionId: string): Promise<ExecutionState>;

  /** The workflow, the user and the conversation of an execution, without its state; undefined where there is none. */
  idsOf(executionId: string): Promise<ExecutionIds | undefined>;

  /** The reason why an execution waits, as a sentence and as facts, or the way in which it ended. Errors are in full. */
  explain(executionId: string): Promise<Explanation>;

  /**
   * Sends an event to workflows. Resolves when it is kept, after it has started, woken and cancelled all executions that this
   * process can.
   */
  send<Accepts>(
    event: EventDefinition<Accepts>,
    data: NoInfer<Accepts>,
    options?: SendOptions,
  ): Promise<EventReceipt>;
  /** The same for a registered event by its name. */
  send(event: string, data: unknown, options?: SendOptions): Promise<EventReceipt>;

  /** Sends events in order, at most 1000: all are kept, or none. */
  sendAll(events: readonly EventToSend[]): Promise<readonly EventReceipt[]>;

  /** Executions, newest first, a page at a time. */
  list(options?: ListOptions): Promise<ExecutionPage>;

  /** Executions by the strings and numbers in their values, newest first, a page at a time. */
  search(options: SearchOptions): Promise<SearchPage>;

  /** The journal of an execution after an event, in order, errors in full. */
  events(
    workflowId: keyof ById<W> & string,
    executionId: string,
    options?: EventsOptions,
  ): Promise<readonly ExecutionEvent[]>;

  /** The current health of the store; changes go to the log. */
  health(): Promise<StoreHealth>;

  /**
   * Stops: nothing new starts, bodies in flight get `grace` milliseconds (default 10 000) to finish, and everything that
   * is not done continues when a process opens the store again.
   */
  close(options?: { readonly grace?: number }): Promise<void>;
}
