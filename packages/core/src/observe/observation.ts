// Everything that one Andante observes of itself: log lines, spans and metrics, with the writer that keeps them.
//
// The engine reports which executions are here; their events come from the feed of commits, as for streams.
import type { TelemetryOptions } from "ai";
import { isEnd, type JournalEvent } from "../journal/events.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { ExecutionRow, Store } from "../store/store.ts";
import { type Clock, clockOf, wholeMilliseconds } from "../values/clock.ts";
import type { Duration } from "../values/duration.ts";
import { TurnoverMap } from "../values/turnover-map.ts";
import { withTimeout } from "../values/with-timeout.ts";
import { defaultLogger } from "./log/create-logger.ts";
import { LogFeed } from "./log/log-feed.ts";
import { checkLevel } from "./log/log-level.ts";
import { type LogOptions, retentionOf } from "./log/log-options.ts";
import type { Logger } from "./log/logger.ts";
import { Logs } from "./log/logs.ts";
import { ObservedLogger } from "./log/observed-logger.ts";
import { Metrics } from "./metrics.ts";
import { ObservationWriter } from "./observation-writer.ts";
import type { CountedExecution } from "./rollups/rollup-tally.ts";
import { type RollupOptions, Rollups } from "./rollups/rollups.ts";
import { agentTelemetry } from "./trace/agent-telemetry.ts";
import type { ExecutionSpans } from "./trace/execution-spans.ts";
import type { TracedExecution } from "./trace/span-attributes.ts";
import type { ReachedExecution } from "./trace/spans-elsewhere.ts";
import { formatTraceparent } from "./trace/trace-ids.ts";
import { Traces } from "./trace/traces.ts";
import { type AgentCallFacts, Tracing } from "./trace/tracing.ts";
import type { TracingOptions } from "./trace/tracing-options.ts";
import type { BudgetOptions } from "./usage/budget-options.ts";
import type { Prices } from "./usage/prices.ts";
import { UsageMeter } from "./usage/usage-meter.ts";

export interface ObservationOptions {
  readonly store: Store;
  /** The host's own. Default: pino on standard output. */
  readonly logger?: Logger | undefined;
  readonly logs?: LogOptions | undefined;
  readonly tracing?: TracingOptions | false | undefined;
  readonly rollups?: RollupOptions | false | undefined;
  readonly prices?: Prices | undefined;
  readonly budgets?: readonly BudgetOptions[] | undefined;
  readonly retention?: { readonly usage?: Duration } | undefined;
  /** The time of calls of models. Default: that of the store. */
  readonly clock?: Clock | undefined;
}

/** Milliseconds that span processors get to send their spans. */
const closePeriod = 1000;

export class Observation {
  /** Its lines reach the host's logger, followers and the store. */
  readonly logger: Logger;
  readonly logs: Logs;
  readonly traces: Traces;
  readonly metrics: Metrics;
  /** Undefined when tracing is off. */
  readonly tracing: Tracing | undefined;
  /** Undefined when nothing is counted. */
  readonly rollups: Rollups | undefined;
  readonly usage: UsageMeter;
  readonly #store: Store;
  readonly #writer: ObservationWriter;
  /** The executions that are here now. */
  readonly #known = new TurnoverMap<string, CountedExecution>();
  readonly #reading = new Set<Promise<void>>();
  #opening: Promise<void> | undefined;

  constructor(options: ObservationOptions, engine: { running(): number; streams(): number }) {
    const { store, logger: host = defaultLogger(), logs = {}, tracing = {}, rollups = {} } = options;
    this.#store = store;
    const clock = wholeMilliseconds(clockOf(store.clusterChannel));
    this.#writer = new ObservationWriter({
      store: store.observations,
      logger: host,
      logs: retentionOf("logs", logs),
      traces: retentionOf("tracing", tracing === false ? {} : tracing),
      clock,
    });
    const feed = new LogFeed(this.#writer, checkLevel("logs.level", logs.level ?? "info"), clock);
    this.logger = new ObservedLogger(host, feed);
    this.logs = new Logs(store, feed, this.#writer);
    const surroundings = { store, sink: this.#writer, logger: this.logger, clock };
    this.tracing = tracing === false ? undefined : new Tracing(tracing, surroundings);
    this.traces = new Traces(store, this.#writer, this.tracing, { maxAge: this.#writer.traceAge, clock });
    this.rollups = rollups === false ? undefined : new Rollups(rollups, store.rollups, this.logger, clock);
    this.usage = new UsageMeter({
      prices: options.prices,
      budgets: options.budgets,
      budgetStore: store.budgets,
      retention: options.retention?.usage,
      store: store.usage,
      logger: this.logger,
      clock: options.clock ?? clock,
    });
    this.metrics = new Metrics({
      running: () => engine.running(),
      streams: () => engine.streams(),
      suspended: () => store.observations.countSuspended(),
      dropped: () => this.#writer.dropped + (this.tracing?.dropped ?? 0),
    });
  }

  /** Loads the modules for spans of agents, once; to be awaited before agents are called. */
  open(): Promise<void> {
    this.#opening ??= this.tracing?.open() ?? Promise.resolve();
    return this.#opening;
  }

  /** A new execution runs here; its first events are about to be published. */
  begin(execution: TracedExecution, startAt: number): void {
    this.#known.set(execution.executionId, { workflowId: execution.workflowId, startAt });
    this.tracing?.begin(execution);
  }

  /** The trace column of a new execution; null when it is not traced. */
  traceOf(executionId: string, traceparent: string | undefined): string | null {
    return this.tracing?.traceOf(executionId, traceparent) ?? null;
  }

  /** An execution is loaded here, with its open spans. */
  load(execution: ReachedExecution & Pick<ExecutionRow, "startAt">, spans?: ExecutionSpans): void {
    const { executionId, workflowId, startAt } = execution;
    this.#known.set(executionId, { workflowId, startAt });
    if (spans === undefined) return;
    this.tracing?.elsewhere?.reached(execution);
    this.tracing?.adopt(spans);
  }

  /**
   * The open spans of an execution after the event `upTo`: continued from packed ones, and derived from the journal. Undefined
   * when tracing is off.
   */
  async openSpans(
    execution: TracedExecution,
    upTo: number,
    packed?: string,
  ): Promise<ExecutionSpans | undefined> {
    const { executionId } = execution;
    const spans = this.tracing?.derive(execution, packed);
    if (spans === undefined) return undefined;
    const range = { executionId, after: spans.last, upTo };
    for await (const { events } of readJournal(this.#store, range)) spans.replay(events);
    return spans;
  }

  /** The execution was loaded because its process was lost. */
  recovered(workflowId: string): void {
    this.metrics.recovered(workflowId);
  }

  /** A resume was accepted: of an execution that runs here, or that is about to be loaded. `waits`: milliseconds. */
  resumed(workflowId: string, at: number, waits: readonly number[]): void {
    this.metrics.resumed(workflowId);
    for (const waited of waits) this.rollups?.answered(workflowId, at, waited);
  }

  /** The execution has left this process; its spans so far, when it is traced. */
  leave(executionId: string): ExecutionSpans | undefined {
    this.#known.delete(executionId);
    return this.tracing?.leave(executionId);
  }

  /** Events were committed. */
  receive(executionId: string, events: readonly JournalEvent[]): void {
    const known = this.#known.get(executionId);
    if (known !== undefined) {
      this.metrics.receive(known.workflowId, known.startAt, events);
      this.rollups?.receive(known, events);
      this.tracing?.receive(executionId, events);
    } else if (events.some(isEnd)) this.#readElsewhere(executionId, events);
  }

  /** The W3C header of the span in which a body runs. */
  traceparent(executionId: string, path: string): string | undefined {
    const place = this.tracing?.placeOf(executionId, path);
    return place && formatTraceparent(place);
  }

  /** Runs a body with its step's span as the active one. */
  run<T>(executionId: string, path: string, body: () => T): T {
    return this.tracing === undefined ? body() : this.tracing.run(executionId, path, body);
  }

  /** The AI SDK's `telemetry` option for a call of an agent. */
  agentTelemetry({ agentId, ...facts }: AgentCallFacts, logger: Logger): TelemetryOptions {
    return this.agentOperation(facts, logger)(agentId);
  }

  /** The same for the agents of one operation that no execution makes. */
  agentOperation(
    facts: Omit<AgentCallFacts, "agentId">,
    logger: Logger,
  ): (agentId: string) => TelemetryOptions {
    const spansOf = this.tracing?.agentOperation(facts);
    return (agentId) =>
      agentTelemetry({
        agentId,
        logger,
        spans: spansOf?.(agentId),
        tokens: (model, usage) => this.metrics.tokens(agentId, model, usage),
      });
  }

  /** Removes log lines, traces and counts beyond their bounds. */
  async trim(): Promise<void> {
    await this.#writer.flush();
    await this.#writer.trim();
    await this.rollups?.trim();
    await this.usage.trim();
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#reading);
    await this.#closeTracing();
    await this.rollups?.close();
    await this.usage.close();
    await this.usage.budgets?.close();
    await this.#writer.close();
    this.metrics.close();
  }

  /** The host's exporters may wait for a collector that is gone; the process does not wait for them for long. */
  async #closeTracing(): Promise<void> {
    const closed = this.tracing
      ?.close()
      .catch((err) => this.logger.warn({ err }, "a span processor failed to shut down"));
    if (closed !== undefined) await withTimeout(closed, closePeriod);
  }

  /** An idle execution was ended: its fields are in the store. */
  #readElsewhere(executionId: string, events: readonly JournalEvent[]): void {
    const reading = this.#endElsewhere(executionId, events)
      .catch((err) => this.logger.debug({ err, executionId }, "the trace of an execution could not be ended"))
      .finally(() => this.#reading.delete(reading));
    this.#reading.add(reading);
  }

  async #endElsewhere(executionId: string, events: readonly JournalEvent[]): Promise<void> {
    const state = await this.#store.state(executionId);
    if (state === undefined) return;
    const { execution } = state;
    this.metrics.receive(execution.workflowId, execution.startAt, events);
    if (execution.kind === "workflow") this.rollups?.receive(execution, events);
    const spans = await this.openSpans(execution, (events[0]?.sequence ?? 1) - 1);
    if (spans === undefined) return;
    for (const event of events) spans.apply(event);
    this.tracing?.elsewhere?.left(spans);
  }
}
