// The result of createAndante: the engine, the agents and their observation, behind the interface Andante.

import { Agents } from "../agent/agents.ts";
import { FilePool } from "../agent/call/file-budget.ts";
import { Conversations } from "../agent/conversation/conversations.ts";
import { registerAgents } from "../agent/register-agents.ts";
import type { RunningTurn } from "../agent/turn/turn-host.ts";
import { repliesLimit, runningLimit, sizeLimits, userShareOf } from "../execution/limits/limits.ts";
import { type CancelOptions, cancelExecution } from "../execution/commands/cancel.ts";
import { beginExecution, type ExecutionHandle } from "../execution/commands/execution-handle.ts";
import { type ExecutionPage, type ListOptions, listExecutions } from "../execution/commands/list.ts";
import {
  checkReason,
  pauseExecution,
  type SuspendOptions,
  type SuspendResult,
} from "../execution/commands/pause.ts";
import { prepareReplay, type ReplayOptions, replayQueue } from "../execution/commands/replay.ts";
import { checkResumeOptions, type ResumeOptions, resumeExecution } from "../execution/commands/resume.ts";
import { prepareStart, type StartOptions } from "../execution/commands/start.ts";
import { Engine } from "../execution/engine/engine.ts";
import type { FoldOptions } from "../execution/engine/folds.ts";
import { Recovery } from "../execution/engine/recovery.ts";
import { Retention } from "../execution/engine/retention.ts";
import { Scheduler } from "../execution/engine/scheduler.ts";
import { Waiters } from "../execution/engine/waiters.ts";
import {
  type ExecutionEvent,
  type ExecutionResult,
  type ExecutionState,
  viewResult,
  viewState,
} from "../execution/stream/views.ts";
import { turnExecutions } from "../execution/turn/turn-executions.ts";
import { TurnKind } from "../execution/turn/turn-kind.ts";
import type { Logger } from "../observe/log/logger.ts";
import type { Logs } from "../observe/log/logs.ts";
import type { Metrics } from "../observe/metrics.ts";
import { Observation } from "../observe/observation.ts";
import type { Traces } from "../observe/trace/traces.ts";
import type { Store, StoreHealth } from "../store/store.ts";
import { clockOf, wholeMilliseconds } from "../values/clock.ts";
import { agentsIn } from "../workflow/asks-agents.ts";
import { registerWorkflows } from "../workflow/register-workflows.ts";
import type { Andante, EventsOptions, ExecutionStream, WorkflowDetail, WorkflowSummary } from "./andante.ts";
import { type AndanteOptions, checkAndanteOptions } from "./andante-options.ts";
import { type ExecutionIds, ExecutionRows } from "./execution-rows.ts";
import { attachExecution, streamExecution } from "./follow-execution.ts";
import { type Live, liveOf } from "./live.ts";
import { loadAgents } from "./load-agents.ts";
import { readEvents } from "./read-events.ts";
import { recoveryTimes } from "./recovery-times.ts";
import { type ShutDownParts, shutDown } from "./shut-down.ts";
import { startUp } from "./start-up.ts";
import { untilSettled } from "./until-settled.ts";
import { WorkflowCatalog } from "./workflow-catalog.ts";

export class AndanteService implements Andante {
  readonly logger: Logger;
  readonly store: Store;
  readonly logs: Logs;
  readonly traces: Traces;
  readonly metrics: Metrics;
  readonly agents: Agents;
  readonly conversations: Conversations;
  readonly #catalog: WorkflowCatalog;
  readonly #observation: Observation;
  readonly #engine: Engine;
  readonly #recovery: Recovery;
  readonly #scheduler: Scheduler;
  readonly #retention: Retention;
  readonly #ready: Promise<void>;
  readonly #loaded: Promise<void>;
  readonly #rows: ExecutionRows;
  readonly #replays = replayQueue();
  #closed: Promise<void> | undefined;

  /** `folds`: for tests. */
  constructor(options: AndanteOptions, folds?: FoldOptions) {
    checkAndanteOptions(options);
    const workflows = registerWorkflows(options.workflows ?? {});
    const agents = registerAgents(options.agents ?? {});
    this.#catalog = new WorkflowCatalog(workflows.values(), (id) => this.#engine.isRunning(id));
    const { store, limits = {} } = options;
    this.store = store;
    const observation = new Observation(options, {
      running: () => this.#engine.running,
      streams: () => this.#engine.feed.size,
    });
    this.#observation = observation;
    ({ logger: this.logger, logs: this.logs, traces: this.traces, metrics: this.metrics } = observation);
    // All options are checked by now. A store's thread takes longest to start, so the rest is made meanwhile.
    this.#ready = this.#open();
    // The first call reports a store that failed to open: no unhandled rejection.
    this.#ready.catch(() => undefined);
    const clock = wholeMilliseconds(options.clock ?? clockOf(store.clusterChannel));
    const files = new FilePool();
    this.#scheduler = new Scheduler({
      store,
      clock,
      logger: this.logger,
      workflowIds: [...workflows.keys()],
      period: recoveryTimes(store).duePeriod,
      storageFailed: (error) => this.#engine.storage.failed(error),
    });
    const waiters = new Waiters();
    const host = {
      agentIds: [...agents.keys()],
      run: (turn: RunningTurn) => this.agents.kept.run(turn),
      endingOf: (executionId: string) => this.agents.kept.endingOf(executionId),
    };
    const turns = new TurnKind(store, host, waiters);
    this.#engine = new Engine({
      store,
      observation,
      workflows,
      kinds: [turns],
      waiters,
      clock,
      scheduleWakeup: (at, kind) => this.#scheduler.schedule(at, kind),
      wakeSleepers: () => this.#scheduler.roomFreed(),
      claimAbandoned: () => this.#recovery.roomFreed(),
      limits: sizeLimits(limits),
      files,
      folds,
      maxRunning: runningLimit(limits),
      userShare: userShareOf(limits),
    });
    this.#recovery = new Recovery(this.#engine, recoveryTimes(store));
    this.#retention = new Retention(this.#engine, options.retention ?? {});
    const asked = [...workflows.values()].flatMap(({ steps }) => agentsIn(steps));
    this.#loaded = agents.size + asked.length > 0 ? loadAgents(this.#ready, this.#engine) : this.#ready;
    this.#rows = new ExecutionRows(this.#engine, this.#ready);
    this.#loaded.catch(() => undefined);
    this.agents = new Agents({
      agents,
      asked,
      conversations: store.conversations,
      approvals: store.approvals,
      executions: turnExecutions(this.#engine, turns),
      clock,
      files,
      maxReplies: repliesLimit(limits),
      logger: this.logger,
      telemetry: (facts, logger) => observation.agentOperation(facts, logger),
      observed: () => observation.open(),
      ready: this.#ready,
    });
    const forget = (conversationId: string) => this.agents.forget(conversationId);
    this.conversations = new Conversations(store.conversations, clock, this.#ready, forget);
  }

  ready(): Promise<void> {
    return this.#loaded;
  }

  async settled(): Promise<void> {
    await this.#ready;
    await untilSettled(this.#engine, this.#scheduler, this.#recovery);
  }

  workflows(): readonly WorkflowSummary[] {
    return this.#catalog.list();
  }

  workflow(workflowId: string): WorkflowDetail {
    return this.#catalog.read(workflowId);
  }

  checkWorkflow(workflowId: string): void {
    this.#engine.workflow(workflowId);
  }

  async execute(workflowId: string, input: unknown, options: StartOptions = {}): Promise<ExecutionResult> {
    const started = await this.start(workflowId, input, options);
    return started.result();
  }

  async start(workflowId: string, input: unknown, options: StartOptions = {}): Promise<ExecutionHandle> {
    await this.#ready;
    const prepared = await prepareStart(this.#engine, workflowId, input, options);
    return beginExecution(this.#engine, workflowId, prepared, options);
  }

  async replay(workflowId: string, executionId: string, options: ReplayOptions): Promise<ExecutionResult> {
    return (await this.startReplay(workflowId, executionId, options)).result();
  }

  async startReplay(
    workflowId: string,
    executionId: string,
    options: ReplayOptions,
  ): Promise<ExecutionHandle> {
    return this.#replays.run(options.userId ?? null, async () => {
      const source = this.#rows.ofRegistered(workflowId, executionId);
      const prepared = await prepareReplay(this.#engine, await source, options);
      return beginExecution(this.#engine, workflowId, prepared, options);
    });
  }

  async stream(workflowId: string, input: unknown, options: StartOptions = {}): Promise<ExecutionStream> {
    await this.#ready;
    return streamExecution(this.#engine, workflowId, input, options);
  }

  async attach(workflowId: string, executionId: string, after = 0): Promise<ExecutionStream | undefined> {
    return attachExecution(this.#engine, await this.#rows.ofRegistered(workflowId, executionId), after);
  }

  async suspend(
    workflowId: string,
    executionId: string,
    options: SuspendOptions = {},
  ): Promise<SuspendResult> {
    checkReason(options, this.#engine.limits);
    const { execution } = await this.#rows.ofRegistered(workflowId, executionId);
    return pauseExecution(this.#engine, execution, options);
  }

  async resume(
    workflowId: string,
    executionId: string,
    resumeData?: unknown,
    options: ResumeOptions = {},
  ): Promise<ExecutionResult> {
    const resumed = await this.startResume(workflowId, executionId, resumeData, options);
    return resumed.result();
  }

  async startResume(
    workflowId: string,
    executionId: string,
    resumeData?: unknown,
    options: ResumeOptions = {},
  ): Promise<ExecutionHandle> {
    checkResumeOptions(options);
    const state = await this.#rows.ofRegistered(workflowId, executionId);
    return resumeExecution(this.#engine, this.agents.schemas, state, resumeData, options);
  }

  async cancel(
    workflowId: string,
    executionId: string,
    options: CancelOptions = {},
  ): Promise<ExecutionResult> {
    checkReason(options, this.#engine.limits);
    const { execution } = await this.#rows.of(workflowId, executionId);
    await cancelExecution(this.#engine, execution, options);
    return viewResult(this.#engine.workflows.get(workflowId), await this.#rows.of(workflowId, executionId));
  }

  async state(workflowId: string, executionId: string): Promise<ExecutionState> {
    return viewState(this.#engine.workflows.get(workflowId), await this.#rows.of(workflowId, executionId));
  }

  async find(executionId: string): Promise<ExecutionState> {
    const state = await this.#rows.find(executionId);
    return viewState(this.#engine.workflows.get(state.execution.workflowId), state);
  }

  async list(options: ListOptions = {}): Promise<ExecutionPage> {
    await this.#ready;
    return listExecutions(this.store, options);
  }

  async events(
    workflowId: string,
    executionId: string,
    options: EventsOptions = {},
  ): Promise<readonly ExecutionEvent[]> {
    await this.#rows.of(workflowId, executionId);
    return readEvents(this.store, this.#engine.workflows.get(workflowId), executionId, options);
  }

  idsOf(executionId: string): Promise<ExecutionIds | undefined> {
    return this.#rows.idsOf(executionId);
  }

  trimObservations(): Promise<void> {
    return this.#observation.trim();
  }

  health(): Promise<StoreHealth> {
    return this.#engine.storage.health();
  }

  get live(): Live {
    return liveOf(this.#engine, this.#observation);
  }

  get closing(): boolean {
    return this.#closed !== undefined;
  }

  close(options: { readonly grace?: number } = {}): Promise<void> {
    const { grace = 10_000 } = options;
    this.#closed ??= shutDown({ ...this.#parts, ready: this.#ready, grace });
    return this.#closed;
  }

  get #parts(): Omit<ShutDownParts, "ready" | "grace"> {
    return {
      engine: this.#engine,
      scheduler: this.#scheduler,
      retention: this.#retention,
      recovery: this.#recovery,
      agents: this.agents,
      observation: this.#observation,
    };
  }

  async #open(): Promise<void> {
    await this.store.open();
    // Else it was closed meanwhile.
    if (!this.#engine.closing) await startUp(this.#parts);
  }
}
