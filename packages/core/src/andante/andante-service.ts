// The result of createAndante: the engine, the agents and their observation, behind the interface Andante.
import { setImmediate as nextTurn, setTimeout } from "node:timers/promises";
import { Agents } from "../agent/agents.ts";
import { FilePool } from "../agent/call/file-budget.ts";
import { Conversations } from "../agent/conversation/conversations.ts";
import { Facts } from "../agent/facts.ts";
import { registerAgents, registerTasks, warnOfUnrecorded } from "../agent/register-agents.ts";
import type { ExpiredApproval, RunningTurn } from "../agent/turn/turn-host.ts";
import { Outbox } from "../delivery/outbox.ts";
import type { AnyEvent, EventToSend, SendOptions } from "../event/define-event.ts";
import { type CancelOptions, cancelExecution } from "../execution/commands/cancel.ts";
import { Deliveries } from "../execution/commands/deliveries.ts";
import { Endpoints } from "../execution/commands/endpoints.ts";
import type { EventReceipt } from "../execution/commands/event-views.ts";
import { Events } from "../execution/commands/events.ts";
import { beginExecution, type ExecutionHandle } from "../execution/commands/execution-handle.ts";
import { explainExecution, explainRows } from "../execution/commands/explain.ts";
import { Links } from "../execution/commands/links.ts";
import { type ExecutionPage, type ListOptions, listExecutions } from "../execution/commands/list.ts";
import {
  checkReason,
  pauseExecution,
  type SuspendOptions,
  type SuspendResult,
} from "../execution/commands/pause.ts";
import { prepareReplay, type ReplayOptions, replayQueue } from "../execution/commands/replay.ts";
import { checkResumeOptions, type ResumeOptions, resumeExecution } from "../execution/commands/resume.ts";
import { scheduleOwners } from "../execution/commands/schedule-owners.ts";
import { Schedules } from "../execution/commands/schedules.ts";
import { type SearchOptions, type SearchPage, searchExecutions } from "../execution/commands/search.ts";
import { prepareStart, type StartOptions } from "../execution/commands/start.ts";
import { startLinked } from "../execution/commands/start-linked.ts";
import { Engine } from "../execution/engine/engine.ts";
import type { FoldOptions } from "../execution/engine/folds.ts";
import { dueTimerProcessor } from "../execution/engine/process-due-timer.ts";
import { cancelChildren } from "../execution/engine/process-end.ts";
import { Recovery } from "../execution/engine/recovery.ts";
import { reportUnregistered } from "../execution/engine/report-unregistered.ts";
import { type EventBounds, Retention } from "../execution/engine/retention.ts";
import { Scheduler } from "../execution/engine/scheduler.ts";
import { SearchIndexer } from "../execution/engine/search-indexer.ts";
import { StorageWatch } from "../execution/engine/storage-watch.ts";
import { Waiters } from "../execution/engine/waiters.ts";
import {
  queueLimit,
  repliesLimit,
  runningLimit,
  schedulesLimit,
  sizeLimits,
  userShareOf,
} from "../execution/limits/limits.ts";
import type { Explanation } from "../execution/stream/explanation.ts";
import {
  type ExecutionEvent,
  type ExecutionResult,
  type ExecutionState,
  viewEvent,
  viewResult,
  viewState,
} from "../execution/stream/views.ts";
import { turnExecutions } from "../execution/turn/turn-executions.ts";
import { TurnKind } from "../execution/turn/turn-kind.ts";
import { decodeEvent } from "../journal/codec.ts";
import { LinkMaker } from "../link/link-maker.ts";
import type { Logger } from "../observe/log/logger.ts";
import type { Logs } from "../observe/log/logs.ts";
import type { Metrics } from "../observe/metrics.ts";
import { Observation } from "../observe/observation.ts";
import type { Traces } from "../observe/trace/traces.ts";
import type { BudgetState } from "../observe/usage/budgets.ts";
import type { UsageOptions, UsagePage } from "../observe/usage/read-usage.ts";
import type { Store, StoreHealth } from "../store/store.ts";
import { callerPageLength } from "../store/text-length.ts";
import { clockOf, wholeMilliseconds } from "../values/clock.ts";
import { registerWorkflows } from "../workflow/register-workflows.ts";
import { agentsIn } from "../workflow/step.ts";
import { registerEvents } from "../workflow/triggers.ts";
import type { Andante, EventsOptions, ExecutionStream, WorkflowDetail, WorkflowSummary } from "./andante.ts";
import { type AndanteOptions, checkAndanteOptions } from "./andante-options.ts";
import { type ExecutionIds, ExecutionRows } from "./execution-rows.ts";
import { attachExecution, streamExecution } from "./follow-execution.ts";
import { type Live, liveOf } from "./live.ts";
import { shutDown } from "./shut-down.ts";
import { WorkflowCatalog } from "./workflow-catalog.ts";

/** Milliseconds after the store is open and recovery has begun, in which requests that waited for that go first. */
const loadingPause = 250;

/** Accounts of each budget in a report. */
const maxAccounts = 100;

export class AndanteService implements Andante {
  readonly logger: Logger;
  readonly store: Store;
  readonly logs: Logs;
  readonly traces: Traces;
  readonly metrics: Metrics;
  readonly agents: Agents;
  readonly conversations: Conversations;
  readonly facts: Facts;
  readonly schedules: Schedules;
  readonly sentEvents: Events;
  readonly links: Links;
  readonly endpoints: Endpoints;
  readonly deliveries: Deliveries;
  readonly #catalog: WorkflowCatalog;
  readonly #observation: Observation;
  readonly #engine: Engine;
  readonly #recovery: Recovery;
  readonly #scheduler: Scheduler;
  readonly #retention: Retention;
  readonly #indexer: SearchIndexer;
  readonly #ready: Promise<void>;
  readonly #loaded: Promise<void>;
  readonly #rows: ExecutionRows;
  readonly #replays = replayQueue();
  #closed: Promise<void> | undefined;

  /** `folds`: for tests. */
  constructor(options: AndanteOptions, folds?: FoldOptions) {
    checkAndanteOptions(options);
    const workflows = registerWorkflows(options.workflows ?? {});
    const events = registerEvents(options.events ?? {}, workflows.values());
    const agents = registerAgents(options.agents ?? {});
    const asked = [...workflows.values()].flatMap(({ steps }) => agentsIn(steps));
    registerTasks([...agents.values(), ...asked], workflows);
    const owners = scheduleOwners(workflows, agents);
    this.#catalog = new WorkflowCatalog(workflows.values());
    const { store, limits = {} } = options;
    this.store = store;
    const observation = new Observation(options, {
      running: () => this.#engine.running,
      streams: () => this.#engine.feed.size,
    });
    this.#observation = observation;
    const { logger } = observation;
    ({ logger: this.logger, logs: this.logs, traces: this.traces, metrics: this.metrics } = observation);
    warnOfUnrecorded(agents, logger);
    // All options are checked by now. A store's thread takes longest to start, so the rest is made meanwhile.
    const opened = store.open();
    const clock = wholeMilliseconds(options.clock ?? clockOf(store.clusterChannel));
    const files = new FilePool();
    const storage = new StorageWatch(store, logger, observation.metrics, clock);
    const times = recoveryTimes(store);
    this.#scheduler = new Scheduler({
      store,
      clock,
      logger,
      workflowIds: [...workflows.keys()],
      agentIds: [...agents.keys()],
      signals: events.size > 0,
      period: times.duePeriod,
      storage,
      clockSetBack: () => void this.schedules.sets.clockSetBack(),
    });
    const waiters = new Waiters();
    // Turns run as executions of the engine, and the engine runs them with the agents: one of the two comes first.
    const host = {
      agentIds: [...agents.keys()],
      run: (turn: RunningTurn) => this.agents.kept.run(turn),
      endingOf: (executionId: string) => this.agents.kept.endingOf(executionId),
      expire: (call: ExpiredApproval) => this.agents.kept.expire(call),
      look: () => this.agents.kept.look(),
    };
    const turns = new TurnKind(store, host, waiters, (change, deadline) => {
      if (deadline !== undefined) this.#engine.scheduleWakeup(deadline, "limit");
      this.#engine.changes.report(change);
    });
    const links = new LinkMaker(options.links, clock);
    this.endpoints = new Endpoints(
      () => this.#engine,
      options.endpoints,
      () => this.#ready,
    );
    this.deliveries = new Deliveries(
      () => this.#engine,
      this.endpoints,
      () => this.#ready,
    );
    this.#engine = new Engine({
      store,
      storage,
      observation,
      workflows,
      kinds: [turns],
      waiters,
      clock,
      scheduler: this.#scheduler,
      limits: sizeLimits(limits),
      files,
      folds,
      maxRunning: runningLimit(limits),
      userShare: userShareOf(limits),
      startLinked: (start) => startLinked(this.#engine, start),
      schedules: {
        fire: (scheduleId) => this.schedules.fire(scheduleId),
        ended: (scheduleId, execution) => this.schedules.ended(scheduleId, execution),
      },
      ...(events.size > 0 && { events: { process: (workId) => this.sentEvents.process(workId) } }),
      postEnd: (end) => this.agents.postEnd(end),
      links,
      outbox:
        options.endpoints &&
        new Outbox({
          endpoints: () => this.endpoints.active,
          dueAt: (endpointId) => this.deliveries.dueAt(endpointId),
          links,
        }),
      deliveries: { deliver: (deliveryId) => this.deliveries.deliver(deliveryId) },
    });
    this.sentEvents = new Events(
      () => this.#engine,
      events,
      () => this.#ready,
    );
    this.schedules = new Schedules(() => this.#engine, {
      owners,
      agents,
      maxPerUser: schedulesLimit(limits),
      post: (prompt) => this.agents.postPrompt(prompt),
      ready: () => this.#ready,
    });
    this.links = new Links(
      () => this.#engine,
      () => this.agents.schemas,
      () => this.#ready,
    );
    this.#recovery = new Recovery(this.#engine, times);
    const trimEvents = events.size > 0 ? (bounds: EventBounds) => this.sentEvents.trim(bounds) : undefined;
    this.#retention = new Retention(this.#engine, options.retention ?? {}, undefined, trimEvents);
    this.#indexer = new SearchIndexer(this.#engine);
    this.#ready = this.#start(opened);
    // The first call reports a store that failed to open: no unhandled rejection.
    this.#ready.catch(() => undefined);
    this.#rows = new ExecutionRows(this.#engine, this.#ready);
    this.agents = new Agents({
      agents,
      asked,
      conversations: store.conversations,
      approvals: store.approvals,
      facts: this.#engine.facts,
      schedules: this.schedules,
      executions: turnExecutions(this.#engine, turns),
      clock,
      files,
      maxContext: this.#engine.limits.context,
      maxReplies: repliesLimit(limits),
      maxQueued: queueLimit(limits),
      logger,
      telemetry: (facts, childLogger) => observation.agentOperation(facts, childLogger),
      observed: () => observation.open(),
      meter: observation.usage,
      ready: this.#ready,
    });
    const hasAgents = agents.size + asked.length > 0;
    this.#loaded = hasAgents ? this.#loadAgents() : this.#ready;
    this.#loaded.catch(() => undefined);
    const forget = (conversationId: string) => this.agents.forget(conversationId);
    this.facts = new Facts(this.#engine.facts, agents, this.#ready);
    // Its turn goes with the conversation, with all that could be read of it.
    const removing = async (conversationId: string) => {
      const live = await store.liveTurn(conversationId);
      return async () => live && cancelChildren(this.#engine, live.executionId);
    };
    this.conversations = new Conversations(store.conversations, clock, this.#ready, forget, removing);
  }

  ready(): Promise<void> {
    return this.#loaded;
  }

  async settled(): Promise<void> {
    await this.#ready;
    const round = () => this.#scheduler.round ?? this.#recovery.round;
    const isBusy = () => round() !== undefined || this.#engine.isBusy;
    do {
      while (isBusy()) await (round() ?? this.#engine.progress.next());
      // A test clock rings at the next turn of the event loop for an execution that has just gone to sleep.
      await nextTurn();
    } while (isBusy());
  }

  workflows(): readonly WorkflowSummary[] {
    return this.#catalog.list(this.#engine);
  }

  workflow(workflowId: string): WorkflowDetail {
    return this.#catalog.read(workflowId, this.#engine);
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
    const state = await this.#rows.toResume(workflowId, executionId);
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

  async explain(executionId: string): Promise<Explanation> {
    return explainExecution(this.#engine, await this.#rows.find(executionId));
  }

  send(event: AnyEvent | string, data: unknown, options: SendOptions = {}): Promise<EventReceipt> {
    return this.sentEvents.send(event, data, options);
  }

  sendAll(events: readonly EventToSend[]): Promise<readonly EventReceipt[]> {
    return this.sentEvents.sendAll(events);
  }

  async list(options: ListOptions = {}): Promise<ExecutionPage> {
    await this.#ready;
    return listExecutions(this.store, options, (rows) => explainRows(this.#engine, rows));
  }

  async search(options: SearchOptions): Promise<SearchPage> {
    await this.#ready;
    return searchExecutions(this.store, options);
  }

  async events(
    workflowId: string,
    executionId: string,
    { after = 0, limit = 1000 }: EventsOptions = {},
  ): Promise<readonly ExecutionEvent[]> {
    await this.#rows.of(workflowId, executionId);
    const workflow = this.#engine.workflows.get(workflowId);
    const stored = await this.store.events({ executionId, after, limit, length: callerPageLength });
    return stored.map((event) => viewEvent(workflow, executionId, decodeEvent(event), "full"));
  }

  async budgets({ userId }: { readonly userId?: string | undefined } = {}): Promise<readonly BudgetState[]> {
    await this.#ready;
    const { budgets } = this.#engine.observation.usage;
    if (userId === undefined) return (await budgets?.states(maxAccounts)) ?? [];
    return ((await budgets?.statesOf({ userId })) ?? []).filter(({ per }) => per === "user");
  }

  async usage(options: UsageOptions): Promise<UsagePage> {
    await this.#ready;
    return this.#observation.usage.read(options);
  }

  idsOf(executionId: string): Promise<ExecutionIds | undefined> {
    return this.#rows.idsOf(executionId);
  }

  /** Removes log lines, traces and counts beyond their bounds now, in place of once a minute. For tests. */
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
    this.#closed ??= shutDown({
      engine: this.#engine,
      scheduler: this.#scheduler,
      retention: this.#retention,
      indexer: this.#indexer,
      recovery: this.#recovery,
      scheduleSets: this.schedules.sets,
      endpoints: this.endpoints,
      deliveries: this.deliveries,
      agents: this.agents,
      observation: this.#observation,
      ready: this.#ready,
      grace,
    });
    return this.#closed;
  }

  /** When the store is open, abandoned executions continue, and the scheduler watches for due timers. */
  async #start(opened: Promise<void>): Promise<void> {
    await opened;
    const engine = this.#engine;
    if (engine.closing) return;
    await Promise.all([engine.definitions.register(), this.#recovery.announce(), this.endpoints.start()]);
    await Promise.all([this.#recovery.start(), reportUnregistered(engine)]);
    if (engine.closing) return;
    engine.cluster?.start(this.agents, [this.#recovery, this.#scheduler]);
    this.#scheduler.start(dueTimerProcessor(engine, this.#recovery));
    await this.schedules.sets.start();
    await this.sentEvents.start();
    this.#retention.start();
    this.#indexer.start();
  }

  /**
   * Loads the modules of agents: the AI SDK and its spans, which take the thread for 50 to 80 ms. Waits only where the
   * process has not begun to load them. Rejects when they cannot be loaded.
   */
  async #loadAgents(): Promise<void> {
    await this.#ready;
    if (!this.agents.areRepliesRequested) await setTimeout(loadingPause);
    if (!this.#engine.closing)
      await Promise.all([this.agents.loadReplies(), this.#engine.observation.open()]);
  }
}

/** In milliseconds. */
interface RecoveryTimes {
  /** How long a claim outlives its owner's last heartbeat. */
  readonly lease: number;
  /** Between two heartbeats, each with a poll for abandoned work. */
  readonly period: number;
  /** Between two polls for due timers; timers of this process are found without them. */
  readonly duePeriod: number;
}

/** Where other processes share the store and may leave work behind, this process polls more often. */
function recoveryTimes({ clusterChannel }: Store): RecoveryTimes {
  if (clusterChannel === undefined) return { lease: 30_000, period: 10_000, duePeriod: 60_000 };
  const { lease } = clusterChannel;
  return { lease, period: Math.min(1000, lease / 5), duePeriod: 2000 };
}
