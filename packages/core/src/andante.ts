// createAndante: workflows and their executions without a server. The HTTP layer is a thin skin over exactly this.
import { v7 as uuid } from "uuid";
import {
  ExecutionNotFoundError,
  InvalidOptionError,
  NotCancellableError,
  NotSuspendableError,
  ShuttingDownError,
  WorkflowNotFoundError,
} from "./errors/index.ts";
import { type Clock, systemClock } from "./execution/clock.ts";
import { Engine, type Wait } from "./execution/engine.ts";
import { EventStream } from "./execution/event-stream.ts";
import { executionEvent } from "./execution/events.ts";
import { type ExecutionPage, type ListOptions, listExecutions } from "./execution/list-executions.ts";
import { Recovery } from "./execution/recovery.ts";
import { type ResumeOptions, resumeExecution } from "./execution/resume-execution.ts";
import { Scheduler } from "./execution/scheduler.ts";
import { checkText, type StartOptions, startExecution } from "./execution/start-execution.ts";
import {
  type ExecutionEvent,
  type ExecutionResult,
  type ExecutionStateView,
  isoTime,
  publicText,
  type SuspensionView,
  viewEvent,
  viewResult,
  viewState,
  viewSuspension,
} from "./execution/views.ts";
import { createLogger, type Logger } from "./observe/logger.ts";
import type { ExecutionState, Store } from "./store/store.ts";
import { describeWorkflow, type WorkflowDescription } from "./workflow/describe-workflow.ts";
import { fromJson } from "./workflow/json.ts";
import { registerWorkflows } from "./workflow/register-workflows.ts";
import type { WorkflowDefinition } from "./workflow/step.ts";

export interface AndanteOptions {
  /** The workflows to serve. A workflow's own id counts, not its key. */
  readonly workflows?: Readonly<Record<string, WorkflowDefinition>>;
  /** Where executions are kept. */
  readonly store: Store;
  /** Default: pino, JSON lines on standard output, level info. */
  readonly logger?: Logger;
  readonly limits?: AndanteLimits;
  /** The time as executions see it, for tests. Default: the machine's clock. */
  readonly clock?: Clock;
}

export interface AndanteLimits {
  /** Executions that run here at once; more starts are answered 503. Suspended ones do not count. Default: 1000. */
  readonly running?: number;
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

export interface SuspendOptions {
  /** Default: "Suspended by request". */
  readonly reason?: string | undefined;
  /** Who suspends; kept in the journal. */
  readonly userId?: string | undefined;
}

export interface SuspendResult {
  readonly executionId: string;
  readonly status: "suspended";
  readonly suspension: SuspensionView;
}

/** A started execution and its events. */
export interface StreamHandle {
  readonly executionId: string;
  readonly events: AsyncIterableIterator<ExecutionEvent>;
}

/** An execution that is under way. */
export interface ExecutionHandle {
  readonly executionId: string;
  /** ISO 8601. */
  readonly startAt: string;
  /** True when it was there before and is suspended or has ended: the result is at hand. */
  readonly rests: boolean;
  /** Resolves when the execution ends or is suspended. */
  result(): Promise<ExecutionResult>;
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
  readonly #engine: Engine;
  readonly #recovery: Recovery;
  readonly #scheduler: Scheduler;
  readonly #ready: Promise<void>;
  #closed: Promise<void> | undefined;
  readonly #descriptions = new Map<string, WorkflowDescription>();

  constructor(options: AndanteOptions) {
    const workflows = registerWorkflows(options.workflows ?? {});
    for (const workflow of workflows.values())
      this.#descriptions.set(workflow.id, describeWorkflow(workflow));
    this.logger = options.logger ?? createLogger();
    this.store = options.store;
    const { store, logger } = this;
    const { clock = systemClock, limits = {} } = options;
    this.#engine = new Engine({ store, logger, workflows, clock, maxRunning: limits.running ?? 1000 });
    this.#recovery = new Recovery(this.#engine, { period: recoveryPeriod, lease });
    this.#scheduler = new Scheduler(this.#engine);
    this.#ready = this.#open();
    // Whoever calls first learns of a store that cannot be opened; until then the rejection is not unhandled.
    this.#ready.catch(() => undefined);
  }

  /** Resolves when the store is open and abandoned executions are taken up; rejects with the reason when it is not. */
  ready(): Promise<void> {
    return this.#ready;
  }

  async #open(): Promise<void> {
    await this.store.open();
    await this.#recovery.start();
    this.#scheduler.start();
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
    let wait: Wait | undefined;
    try {
      const started = await startExecution(this.#engine, workflowId, input, options, (id) => {
        wait ??= this.#engine.wait(id);
      });
      const { executionId, startAt, rests } = started;
      if (started.created) return this.#handle(workflowId, executionId, startAt, wait);
      wait?.cancel();
      return { executionId, startAt: isoTime(startAt), rests, result: () => this.#resultOf(executionId) };
    } catch (error) {
      wait?.cancel();
      throw error;
    }
  }

  /** Starts an execution and follows it until it ends or is suspended; the last event is `workflow-result`. */
  async stream(workflowId: string, input: unknown, options: StartOptions = {}): Promise<StreamHandle> {
    await this.#ready;
    let events: EventStream | undefined;
    const follow = (executionId: string, existed: boolean) => {
      events?.return();
      events = this.#follow(workflowId, executionId, { after: 0, catchUp: existed, until: "rest" });
    };
    try {
      const { executionId } = await startExecution(this.#engine, workflowId, input, options, follow);
      return {
        executionId,
        events: events ?? this.#follow(workflowId, executionId, { after: 0, catchUp: true, until: "rest" }),
      };
    } catch (error) {
      events?.return();
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
    checkSteering(options);
    await this.#state(workflowId, executionId);
    const { reason = "Suspended by request", userId = null } = options;
    const answer = await this.store.pause({
      executionId,
      suspensionId: uuid(),
      reason,
      at: this.#engine.clock.now(),
      userId,
    });
    if (answer.kind === "refused") throw new NotSuspendableError({ executionId, status: answer.status });
    this.#engine.feed.publish(executionId, [answer.event]);
    const driver = await this.#engine.driver(executionId);
    driver?.pause();
    this.#engine.settle(executionId, { kind: "suspended", suspension: answer.suspension });
    const suspension = viewSuspension(this.#engine.workflow(workflowId), answer.suspension);
    return { executionId, status: "suspended", suspension };
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
    let wait: Wait | undefined;
    try {
      await resumeExecution(this.#engine, workflow, state, resumeData, options, () => {
        wait = this.#engine.wait(executionId);
      });
      return this.#handle(workflowId, executionId, state.execution.startAt, wait);
    } catch (error) {
      wait?.cancel();
      throw error;
    }
  }

  /** Ends an execution that has not ended yet. */
  async cancel(
    workflowId: string,
    executionId: string,
    options: SuspendOptions = {},
  ): Promise<ExecutionResult> {
    checkSteering(options);
    await this.#state(workflowId, executionId);
    const { reason, userId } = options;
    const event = executionEvent("workflow-cancelled", this.#engine.clock.now(), undefined, {
      reason,
      userId,
    });
    const answer = await this.store.cancel({
      executionId,
      event,
      status: "cancelled",
      error: null,
      due: null,
    });
    if (answer.kind === "refused") throw new NotCancellableError({ executionId, status: answer.status });
    await this.#engine.endedOutside(executionId, answer.event, "The execution was cancelled");
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
    const events = await this.store.events({ executionId, after, limit });
    const workflow = this.#engine.workflow(workflowId);
    return events.map((event) => viewEvent(workflow, executionId, event, "full"));
  }

  /**
   * Stops: nothing new starts, bodies in flight get `grace` milliseconds (default 10 000) to finish, and everything that
   * is not done goes on when a process opens the store again.
   */
  close(options: { readonly grace?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(options.grace ?? 10_000);
    return this.#closed;
  }

  async #close(grace: number): Promise<void> {
    await this.#ready.catch(() => undefined);
    this.#engine.stopIntake();
    await this.#scheduler.stop();
    await this.#recovery.stopLooking();
    await this.#engine.close(grace);
    await this.#recovery.stop();
    await this.store.close();
  }

  #summary(description: WorkflowDescription): WorkflowSummary {
    const { id, name, purpose, stepsCount } = description;
    return { id, name, purpose, stepsCount, status: this.#engine.isRunning(id) ? "running" : "idle" };
  }

  #follow(
    workflowId: string,
    executionId: string,
    how: { after: number; catchUp: boolean; until: "rest" | "end" },
  ) {
    const workflow = this.#engine.workflow(workflowId);
    return new EventStream({ store: this.store, feed: this.#engine.feed, workflow, executionId, ...how });
  }

  /** The execution, when it exists and belongs to this workflow. */
  async #state(workflowId: string, executionId: string): Promise<ExecutionState> {
    await this.#ready;
    this.#engine.workflow(workflowId);
    const state = await this.store.state(executionId);
    if (state?.execution.workflowId !== workflowId) throw new ExecutionNotFoundError({ executionId });
    return state;
  }

  #handle(workflowId: string, executionId: string, startAt: number, wait: Wait | undefined): ExecutionHandle {
    return {
      executionId,
      startAt: isoTime(startAt),
      rests: false,
      result: () => this.#answer(workflowId, executionId, startAt, wait),
    };
  }

  /** An execution that was there before answers as it stands, or when it comes to rest. */
  async #resultOf(executionId: string): Promise<ExecutionResult> {
    const wait = this.#engine.wait(executionId);
    try {
      const state = await this.store.state(executionId);
      if (state === undefined) throw new ExecutionNotFoundError({ executionId });
      const { execution } = state;
      const workflow = this.#engine.workflow(execution.workflowId);
      if (execution.status !== "running") return viewResult(workflow, state);
      return await this.#answer(workflow.id, executionId, execution.startAt, wait);
    } finally {
      wait.cancel();
    }
  }

  /** What a caller gets who waited for the execution. */
  async #answer(
    workflowId: string,
    executionId: string,
    startAt: number,
    wait: Wait | undefined,
  ): Promise<ExecutionResult> {
    const settlement = await wait?.settled;
    const common = { executionId, startAt: isoTime(startAt) };
    switch (settlement?.kind) {
      case "ended": {
        const { status, endAt, result, error } = settlement;
        const failure = error && { error: publicText(error) };
        return { ...common, endAt: isoTime(endAt), status, result: fromJson(result) ?? null, ...failure };
      }
      case "suspended": {
        const suspension = viewSuspension(this.#engine.workflow(workflowId), settlement.suspension);
        return { ...common, endAt: null, status: "suspended", result: null, suspension };
      }
      case "elsewhere":
        return this.#resultOf(executionId);
      default:
        throw new ShuttingDownError({ executionId });
    }
  }
}

function checkSteering({ reason, userId }: SuspendOptions): void {
  checkText(userId, "userId");
  if (reason !== undefined && typeof reason !== "string") {
    throw new InvalidOptionError({ option: "reason", problem: "expected a text" });
  }
}
