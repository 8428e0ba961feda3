// createAndante: agents, workflows and their executions without a server. The HTTP layer is a thin skin over exactly this.

import { Agents } from "./agent/agents.ts";
import type { AnyAgent } from "./agent/call/any-agent.ts";
import { Conversations } from "./agent/conversation/conversations.ts";
import { registerAgents } from "./agent/register-agents.ts";
import { ExecutionNotFoundError, ShuttingDownError, WorkflowNotFoundError } from "./errors/index.ts";
import { type AndanteLimits, sizeLimits } from "./execution/body/limits.ts";
import { type CancelOptions, cancelExecution } from "./execution/commands/cancel.ts";
import { beginExecution, type ExecutionHandle, handleOf } from "./execution/commands/execution-handle.ts";
import { type ExecutionPage, type ListOptions, listExecutions } from "./execution/commands/list.ts";
import {
  checkReason,
  pauseExecution,
  type SuspendOptions,
  type SuspendResult,
} from "./execution/commands/pause.ts";
import { prepareReplay, type ReplayOptions } from "./execution/commands/replay.ts";
import { acceptResume, type ResumeOptions } from "./execution/commands/resume.ts";
import { prepareStart, type StartOptions } from "./execution/commands/start.ts";
import { Engine } from "./execution/engine/engine.ts";
import { processDueTimer } from "./execution/engine/process-due-timer.ts";
import { Recovery } from "./execution/engine/recovery.ts";
import { Retention, type RetentionOptions } from "./execution/engine/retention.ts";
import { Scheduler } from "./execution/engine/scheduler.ts";
import { EventStream } from "./execution/stream/event-stream.ts";
import {
  type ExecutionEvent,
  type ExecutionResult,
  type ExecutionStateView,
  viewEvent,
  viewResult,
  viewState,
} from "./execution/stream/views.ts";
import { decodeEvent } from "./journal/codec.ts";
import type { LogOptions } from "./observe/log/log-options.ts";
import type { Logger } from "./observe/log/logger.ts";
import type { Logs } from "./observe/log/logs.ts";
import type { Metrics } from "./observe/metrics.ts";
import { Observation } from "./observe/observation.ts";
import type { Traces } from "./observe/trace/traces.ts";
import type { TracingOptions } from "./observe/trace/tracing-options.ts";
import type { ExecutionState, Store } from "./store/store.ts";
import { checkText } from "./values/check-id.ts";
import { type Clock, systemClock } from "./values/clock.ts";
import { describeWorkflow, type WorkflowDescription } from "./workflow/describe-workflow.ts";
import { registerWorkflows } from "./workflow/register-workflows.ts";
import type { WorkflowDefinition } from "./workflow/step.ts";

export interface AndanteOptions {
  /** The workflows to serve. A workflow's own id counts, not its key. */
  readonly workflows?: Readonly<Record<string, WorkflowDefinition>>;
  /** The agents to serve: ours, and any of the AI SDK. An agent's own id counts; one without an id takes its key. */
  readonly agents?: Readonly<Record<string, AnyAgent>>;
  /** Where executions and conversations are kept. */
  readonly store: Store;
  /** Default: pino on standard output, level info; pretty on a terminal, JSON lines elsewhere. */
  readonly logger?: Logger;
  /** Which log lines are kept in the store, and how long. Default: info and above, 7 days, 100 000 lines. */
  readonly logs?: LogOptions;
  /** Spans of executions, steps, agents and tools; false makes none. Default: all of them, kept for 7 days. */
  readonly tracing?: TracingOptions | false;
  readonly limits?: AndanteLimits;
  /** Which ended executions are kept; the others are deleted. Default: all are kept. */
  readonly retention?: RetentionOptions;
  /** The time as executions see it, for tests. Default: the machine's clock. */
  readonly clock?: Clock;
}

/** A workflow as lists show it. */
export interface WorkflowSummary {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly stepsCount: number;
  /** `running` while a body of one of its executions runs in this process. */
  readonly status: "idle" | "running";
}

export type WorkflowDetail = WorkflowSummary & WorkflowDescription;

/** A started execution and its events. */
export interface StreamHandle {
  readonly executionId: string;
  /** The W3C header that names its root span; absent when it is not traced here. */
  readonly traceparent?: string | undefined;
  readonly events: AsyncIterableIterator<ExecutionEvent>;
}

/** Milliseconds: how long a silent owner's claims last, and how often abandoned work is looked for. */
const lease = 30_000;
const recoveryPeriod = 10_000;

export function createAndante(options: AndanteOptions): Andante {
  return new Andante(options);
}

export class Andante {
  readonly logger: Logger;
  readonly store: Store;
  /** The log lines: `list` those that are kept, `follow` those that come. */
  readonly logs: Logs;
  /** The traces: `list` and `read` those that are kept, `follow` the spans that come. */
  readonly traces: Traces;
  /** The figures in Prometheus' text format. */
  readonly metrics: Metrics;
  readonly #observation: Observation;
  /** The registered agents and their answers. */
  readonly agents: Agents;
  readonly conversations: Conversations;
  readonly #engine: Engine;
  readonly #recovery: Recovery;
  readonly #scheduler: Scheduler;
  readonly #retention: Retention;
  readonly #ready: Promise<void>;
  #closed: Promise<void> | undefined;
  readonly #descriptions = new Map<string, WorkflowDescription>();

  constructor(options: AndanteOptions) {
    const workflows = registerWorkflows(options.workflows ?? {});
    const agents = registerAgents(options.agents ?? {});
    for (const workflow of workflows.values())
      this.#descriptions.set(workflow.id, describeWorkflow(workflow));
    this.store = options.store;
    const observation = new Observation(options, {
      running: () => this.#engine.running,
      streams: () => this.#engine.feed.size,
    });
    this.#observation = observation;
    this.logger = observation.logger;
    this.logs = observation.logs;
    this.traces = observation.traces;
    this.metrics = observation.metrics;
    const { store } = this;
    const { clock = systemClock } = options;
    this.#scheduler = new Scheduler({
      store,
      clock,
      logger: this.logger,
      workflowIds: [...workflows.keys()],
    });
    this.#engine = new Engine({
      store,
      observation,
      workflows,
      clock,
      scheduleWakeup: (at, kind) => this.#scheduler.schedule(at, kind),
      limits: sizeLimits(options.limits ?? {}),
      maxRunning: options.limits?.running ?? 1000,
    });
    this.#recovery = new Recovery(this.#engine, { period: recoveryPeriod, lease });
    this.#retention = new Retention(this.#engine, options.retention ?? {});
    this.#ready = this.#open();
    // Whoever calls first learns of a store that cannot be opened; until then the rejection is not unhandled.
    this.#ready.catch(() => undefined);
    this.agents = new Agents({
      agents,
      conversations: store.conversations,
      logger: this.logger,
      telemetry: (facts, logger) => observation.agentOperation(facts, logger),
      ready: this.#ready,
    });
    const removed = (conversationId: string) => this.agents.forget(conversationId);
    this.conversations = new Conversations(store.conversations, this.#ready, removed);
  }

  /** Resolves when the store is open and abandoned executions are taken up; rejects with the reason when it is not. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** The registered workflows, in order of registration. */
  workflows(): readonly WorkflowSummary[] {
    return [...this.#descriptions.values()].map((description) => this.#summary(description));
  }

  /** One workflow with its steps and schemas. */
  workflow(workflowId: string): WorkflowDetail {
    const description = this.#descriptions.get(workflowId);
    if (description === undefined) throw new WorkflowNotFoundError({ workflowId });
    return { ...description, ...this.#summary(description) };
  }

  /** Starts an execution and waits until it ends or is suspended. A failed one is a result with status `error`. */
  async execute(workflowId: string, input: unknown, options: StartOptions = {}): Promise<ExecutionResult> {
    const started = await this.start(workflowId, input, options);
    return started.result();
  }

  /** Starts an execution and answers as soon as it is committed; it runs on by itself. */
  async start(workflowId: string, input: unknown, options: StartOptions = {}): Promise<ExecutionHandle> {
    await this.#ready;
    const prepared = await prepareStart(this.#engine, workflowId, input, options);
    return beginExecution(this.#engine, workflowId, prepared, options);
  }

  /**
   * Replays an execution that is suspended or has ended from a top-level step, and waits until the new one ends or is
   * suspended. What the old one did before that step is taken over, with its input, context and tags.
   */
  async replay(workflowId: string, executionId: string, options: ReplayOptions): Promise<ExecutionResult> {
    const started = await this.startReplay(workflowId, executionId, options);
    return started.result();
  }

  /** Replays an execution and answers as soon as the new one is committed; it runs on by itself. */
  async startReplay(
    workflowId: string,
    executionId: string,
    options: ReplayOptions,
  ): Promise<ExecutionHandle> {
    const source = await this.#state(workflowId, executionId);
    const workflow = this.#engine.workflow(workflowId);
    const prepared = await prepareReplay(this.#engine, workflow, source, options);
    return beginExecution(this.#engine, workflowId, prepared, options);
  }

  /** Starts an execution and follows it until it ends or is suspended; the last event is `workflow-result`. */
  async stream(workflowId: string, input: unknown, options: StartOptions = {}): Promise<StreamHandle> {
    await this.#ready;
    const prepared = await prepareStart(this.#engine, workflowId, input, options);
    const { executionId } = prepared;
    const how = { after: 0, until: "settled" } as const;
    // Followed before it exists: everything will come through the feed.
    const events = this.#follow(workflowId, executionId, { ...how, catchUp: false });
    try {
      const { created } = await prepared.create();
      if (created) {
        const traceparent = this.#observation.tracing?.traceparent(executionId, options.traceparent);
        return { executionId, traceparent, events };
      }
      events.return();
      return { executionId, events: this.#follow(workflowId, executionId, { ...how, catchUp: true }) };
    } catch (error) {
      events.return();
      throw error;
    }
  }

  /** Follows any execution from after the given event to its end; undefined when it has ended and nothing is left. */
  async attach(workflowId: string, executionId: string, after = 0): Promise<StreamHandle | undefined> {
    const { execution } = await this.#state(workflowId, executionId);
    if (execution.endAt !== null && after >= execution.sequence) return undefined;
    // A number beyond the journal counts as its end: the stream would wait for it for ever.
    const last = Math.min(after, execution.sequence);
    return {
      executionId,
      events: this.#follow(workflowId, executionId, { after: last, catchUp: true, until: "end" }),
    };
  }

  /** Suspends a running execution from outside. A body in flight may finish; nothing new starts. */
  async suspend(
    workflowId: string,
    executionId: string,
    options: SuspendOptions = {},
  ): Promise<SuspendResult> {
    checkReason(options);
    const { execution } = await this.#state(workflowId, executionId);
    return pauseExecution(this.#engine, execution, options);
  }

  /** Answers what an execution waits for, and waits until it ends or is suspended again. */
  async resume(
    workflowId: string,
    executionId: string,
    resumeData?: unknown,
    options: ResumeOptions = {},
  ): Promise<ExecutionResult> {
    const resumed = await this.startResume(workflowId, executionId, resumeData, options);
    return resumed.result();
  }

  /** Answers what an execution waits for, as soon as the answer is committed; the execution goes on by itself. */
  async startResume(
    workflowId: string,
    executionId: string,
    resumeData?: unknown,
    options: ResumeOptions = {},
  ): Promise<ExecutionHandle> {
    checkText(options.stepId, "stepId");
    checkText(options.suspensionId, "suspensionId");
    checkText(options.userId, "userId");
    const state = await this.#state(workflowId, executionId);
    if (this.#engine.closing) throw new ShuttingDownError({ executionId });
    const workflow = this.#engine.workflow(workflowId);
    const { wait, ...accepted } = await acceptResume(this.#engine, workflow, state, resumeData, options);
    try {
      await accepted.continue();
      const { tracing } = this.#observation;
      const traceparent = tracing?.isLive(executionId)
        ? tracing.traceparent(executionId, undefined)
        : undefined;
      const { startAt } = state.execution;
      return { ...handleOf(this.#engine, workflowId, executionId, startAt, wait), traceparent };
    } catch (error) {
      wait.cancel();
      throw error;
    }
  }

  /** Ends an execution that has not ended yet. */
  async cancel(
    workflowId: string,
    executionId: string,
    options: CancelOptions = {},
  ): Promise<ExecutionResult> {
    checkReason(options);
    const { execution } = await this.#state(workflowId, executionId);
    await cancelExecution(this.#engine, execution, options);
    return viewResult(this.#engine.workflow(workflowId), await this.#state(workflowId, executionId));
  }

  /** How an execution stands. */
  async state(workflowId: string, executionId: string): Promise<ExecutionStateView> {
    return viewState(this.#engine.workflow(workflowId), await this.#state(workflowId, executionId));
  }

  /** Executions, newest first, a page at a time. */
  async list(options: ListOptions = {}): Promise<ExecutionPage> {
    await this.#ready;
    return listExecutions(this.store, options);
  }

  /** The journal of an execution after an event, in order, errors in full. */
  async events(
    workflowId: string,
    executionId: string,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly ExecutionEvent[]> {
    await this.#state(workflowId, executionId);
    const { after = 0, limit = 1000 } = options;
    const events = (await this.store.events({ executionId, after, limit })).map(decodeEvent);
    const workflow = this.#engine.workflow(workflowId);
    return events.map((event) => viewEvent(workflow, executionId, event, "full"));
  }

  /** Removes log lines and traces beyond their bounds now; it happens by itself once a minute. */
  trimObservations(): Promise<void> {
    return this.#observation.trim();
  }

  /**
   * Stops: nothing new starts, bodies in flight get `grace` milliseconds (default 10 000) to finish, and everything that
   * is not done goes on when a process opens the store again.
   */
  close(options: { readonly grace?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(options.grace ?? 10_000);
    return this.#closed;
  }

  async #open(): Promise<void> {
    await Promise.all([this.store.open(), this.#observation.open()]);
    await this.#engine.definitions.register();
    await this.#recovery.start();
    const engine = this.#engine;
    this.#scheduler.start({
      get room() {
        return engine.room;
      },
      process: (timer, now) => processDueTimer(engine, timer, now),
    });
    this.#retention.start();
  }

  async #close(grace: number): Promise<void> {
    await this.#ready.catch(() => undefined);
    this.#engine.stopIntake();
    await Promise.all([this.#scheduler.stop(), this.#retention.stop(), this.#recovery.stopLooking()]);
    await Promise.all([this.#engine.close(grace), this.agents.close(grace)]);
    await this.#recovery.stop();
    await this.#observation.close();
    await this.store.close();
  }

  #summary(description: WorkflowDescription): WorkflowSummary {
    const { id, name, purpose, stepsCount } = description;
    return { id, name, purpose, stepsCount, status: this.#engine.isRunning(id) ? "running" : "idle" };
  }

  #follow(
    workflowId: string,
    executionId: string,
    how: { after: number; catchUp: boolean; until: "settled" | "end" },
  ) {
    const workflow = this.#engine.workflow(workflowId);
    const { store, feed, keepAlive } = this.#engine;
    return new EventStream({ store, feed, keepAlive, workflow, executionId, ...how });
  }

  /** The execution, when it exists and belongs to this workflow. */
  async #state(workflowId: string, executionId: string): Promise<ExecutionState> {
    await this.#ready;
    this.#engine.workflow(workflowId);
    const state = await this.store.state(executionId);
    if (state?.execution.workflowId !== workflowId) throw new ExecutionNotFoundError({ executionId });
    return state;
  }
}
