// The traces of one Andante: follows executions and agents, stores spans that no journal has, notifies listeners.
import type { SpanContext } from "@opentelemetry/api";
import type { Telemetry } from "ai";
import type { JournalEvent } from "../../journal/events.ts";
import type { SpanChunk, TraceRoot } from "../../store/observation-store.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";
import type { Logger } from "../log/logger.ts";
import { type AgentCall, AgentCalls } from "./agent-calls.ts";
import { loadIntegration, type MakeIntegration } from "./ai-sdk-integration.ts";
import { ExecutionSpans, type SpanListener } from "./execution-spans.ts";
import { contextOf, ExportedSpans } from "./exported-spans.ts";
import { isRegistered, otelApi } from "./otel-api.ts";
import { boundsIn, isExportWanted, loadExporter, OtlpExport } from "./otlp-export.ts";
import { resourceFromEnvironment } from "./resource-from-environment.ts";
import type { TracedExecution } from "./span-attributes.ts";
import type { SpanOwner, SpanRecord } from "./span-record.ts";
import type { StartSpan } from "./span-tracer.ts";
import { SpansElsewhere } from "./spans-elsewhere.ts";
import { formatTraceparent, parseTraceparent, storedTrace, TraceIds, type TraceParent } from "./trace-ids.ts";
import { sampleOf, type TracingOptions } from "./tracing-options.ts";

/** Keeps the roots of traces, and the spans that no journal holds. */
interface TraceSink {
  root(root: TraceRoot): void;
  chunk(chunk: SpanChunk): void;
}

export interface TracingParts {
  readonly store: Store;
  readonly sink: TraceSink;
  readonly logger: Logger;
  readonly clock: Pick<Clock, "now">;
}

/** A span has begun or ended. */
export interface SpanEvent extends SpanOwner {
  readonly type: "span-start" | "span-end";
  readonly span: SpanRecord;
}

/** Makes the spans of one call of an agent. */
export interface AgentSpans {
  readonly call: AgentCall;
  readonly integration: Telemetry;
  /** Whether prompts and replies are kept in the spans. */
  readonly content: boolean;
  /** The first span of the call, once it has begun. */
  outermost(): SpanContext | undefined;
}

/** A call of an agent, as its caller knows it. */
export interface AgentCallFacts {
  readonly agentId: string;
  readonly userId?: string | undefined;
  readonly conversationId?: string | undefined;
  /** The execution and the step that make the call. Default: none, the call is a trace of its own. */
  readonly executionId?: string | undefined;
  readonly stepPath?: string | undefined;
  /** The caller's header, for a call that is a trace of its own. */
  readonly traceparent?: string | undefined;
}

export class Tracing {
  /** The spans of other processes; undefined where there are none. */
  readonly elsewhere: SpansElsewhere | undefined;
  readonly #clock: Pick<Clock, "now">;
  readonly #sink: TraceSink;
  readonly #sample: number;
  readonly #content: boolean;
  readonly #exported: ExportedSpans;
  readonly #otlp: OtlpExport | undefined;
  readonly #calls: AgentCalls;
  readonly #followers = new Set<(event: SpanEvent) => void>();
  readonly #live = new TurnoverMap<string, ExecutionSpans>();
  readonly #logger: Logger;
  /** Undefined until it is loaded, and where it is not installed. */
  #integration: MakeIntegration | undefined;
  #reportedMissing = false;

  constructor(options: TracingOptions, { store, sink, logger, clock }: TracingParts) {
    this.#clock = clock;
    const now = () => clock.now();
    this.elsewhere =
      store.clusterChannel &&
      new SpansElsewhere({
        store,
        now,
        notify: (type, span, owner) => this.#notify(type, span, owner),
        isHere: (executionId) => this.#live.has(executionId),
      });
    this.#sink = sink;
    this.#logger = logger;
    this.#sample = sampleOf(options.sample);
    this.#content = options.content ?? false;
    this.#calls = new AgentCalls({
      wants: () => this.#followers.size > 0,
      started: (span, call) => this.#notify("span-start", span, call),
      ended: (span, call) => this.#notify("span-end", span, call),
      finished: (call, spans) => this.#keep(call, spans),
    });
    const unreadable = (err: Error) => logger.warn({ err }, "a variable of the environment cannot be read");
    const resource = options.resource ?? resourceFromEnvironment(process.env, unreadable);
    if (options.processors === undefined && !isRegistered("trace") && isExportWanted(process.env))
      this.#otlp = new OtlpExport(loadExporter(process.env), boundsIn(process.env), logger);
    const { processors } = options;
    const exportOptions = { processors, resource, now, environment: this.#otlp };
    this.#exported = new ExportedSpans(exportOptions, this.#calls, (err) =>
      logger.warn({ err }, "a span processor of the host failed"),
    );
  }

  /** Spans that the collector of the environment did not take. */
  get dropped(): number {
    return this.#otlp?.dropped ?? 0;
  }

  /** Loads the modules for spans of agents; without them there are those of executions and steps. */
  async open(load = loadIntegration): Promise<void> {
    try {
      this.#integration = await load();
    } catch (err) {
      this.#logger.warn({ err }, "@ai-sdk/otel could not be loaded");
    }
  }

  /** Sends spans from now on to `follower`, until the returned function is called. */
  follow(follower: (event: SpanEvent) => void): () => void {
    this.#followers.add(follower);
    const leave = this.elsewhere?.follow();
    return () => {
      this.#followers.delete(follower);
      leave?.();
    };
  }

  /** The header that names an execution's root span, for the caller that started it with this `traceparent`. */
  traceparent(executionId: string, given: string | undefined): string | undefined {
    const live = this.#live.get(executionId)?.ids;
    const ids = live ?? new TraceIds(executionId, parseTraceparent(given));
    if (!this.#samples(ids.traceId)) return undefined;
    return formatTraceparent({ traceId: ids.traceId, spanId: ids.spanId(1), sampled: ids.sampled });
  }

  /** The trace column of a new execution; null when it is not traced. */
  traceOf(executionId: string, given: string | undefined): string | null {
    const parent = parseTraceparent(given);
    if (this.#sample < 1 && !this.#samples(new TraceIds(executionId, parent).traceId)) return null;
    return storedTrace(executionId, parent);
  }

  /** A new execution is about to run here. */
  begin(execution: TracedExecution): void {
    this.adopt(this.derive(execution));
  }

  /** An execution is loaded here, with its open spans. */
  adopt(spans: ExecutionSpans): void {
    this.#live.set(spans.execution.executionId, spans);
  }

  /** The spans of an execution that does not run here yet: the caller applies events to them. */
  derive(execution: TracedExecution, packed?: string): ExecutionSpans {
    const listener: SpanListener = {
      wants: () => this.#exported.wanted || this.#followers.size > 0,
      started: (span) => this.#notify("span-start", span, execution),
      ended: (span) => {
        this.#notify("span-end", span, execution);
        if (this.#exported.wanted && this.#samples(span.traceId)) {
          this.#exported.give(span, spansSampled(this.#live.get(span.executionId ?? "")));
        }
      },
    };
    return new ExecutionSpans(execution, listener, packed);
  }

  /** Events were committed. */
  receive(executionId: string, events: readonly JournalEvent[]): void {
    const spans = this.#live.get(executionId);
    if (spans === undefined) return;
    for (const event of events) spans.apply(event);
    if (spans.endAt !== null) this.leave(executionId);
  }

  isLive(executionId: string): boolean {
    return this.#live.has(executionId);
  }

  /** The execution has left this process; an idle one may come back, and continues with the returned spans. */
  leave(executionId: string): ExecutionSpans | undefined {
    const spans = this.#live.get(executionId);
    this.#live.delete(executionId);
    if (spans !== undefined) this.elsewhere?.left(spans);
    return spans;
  }

  /** The span in which a body runs; undefined when its execution is not traced. */
  placeOf(executionId: string, path: string): TraceParent | undefined {
    const spans = this.#live.get(executionId);
    const spanId = spans?.spanIdAt(path);
    if (spans?.ids === undefined || spanId === undefined) return undefined;
    return { traceId: spans.ids.traceId, spanId, sampled: spans.ids.sampled };
  }

  /**
   * Runs a body with its step's span as the active one, where the host has registered a context manager. Without one
   * this is a plain call.
   */
  run<T>(executionId: string, path: string, body: () => T): T {
    if (!isRegistered("context")) return body();
    const place = this.placeOf(executionId, path);
    return place === undefined ? body() : otelApi().context.with(contextOf(place), body);
  }

  /** The same for all agents of one operation: the spans of agents that the first one calls are below its own. */
  agentOperation(facts: Omit<AgentCallFacts, "agentId">): (agentId: string) => AgentSpans | undefined {
    let first: AgentSpans | undefined;
    return (agentId) => {
      const spans = this.agentTelemetry({ ...facts, agentId }, first);
      first ??= spans;
      return spans;
    };
  }

  /** The telemetry option of the AI SDK for a call; `above` made the spans of the calling agent. */
  agentTelemetry(facts: AgentCallFacts, above?: AgentSpans): AgentSpans | undefined {
    const make = this.#integration;
    if (make === undefined) return this.#missing();
    const root = above?.outermost();
    if (above !== undefined && root !== undefined) {
      const { traceId, spanId } = root;
      const parent = contextOf({ traceId, spanId, sampled: true });
      return this.#spansOf(make, { ...above.call, agentId: facts.agentId, parent, rootSpanId: spanId });
    }
    const { agentId, executionId, stepPath = "", userId = null, conversationId = null } = facts;
    const spans = executionId === undefined ? undefined : this.#live.get(executionId);
    const place =
      executionId === undefined ? parseTraceparent(facts.traceparent) : this.placeOf(executionId, stepPath);
    if (executionId !== undefined && (place === undefined || !this.#samples(place.traceId))) return undefined;
    if (executionId === undefined && Math.random() >= this.#sample) return undefined;
    const call: AgentCall = {
      agentId,
      entityType: spans === undefined ? "agent" : "workflow",
      entityId: spans?.execution.workflowId ?? agentId,
      executionId: executionId ?? null,
      userId,
      conversationId,
      parent: place && contextOf(place),
      rootSpanId: spans?.ids?.spanId(1),
    };
    return this.#spansOf(make, call);
  }

  #spansOf(make: MakeIntegration, call: AgentCall): AgentSpans {
    const startSpan: StartSpan = (...start) => this.#exported.startSpan(...start);
    return { call, content: this.#content, ...this.#calls.integration(make, startSpan, call) };
  }

  #missing(): undefined {
    if (this.#reportedMissing) return;
    this.#reportedMissing = true;
    const fields = { package: "@ai-sdk/otel" };
    this.#logger.info(fields, "install this package to have agents, model calls and tools in traces");
  }

  async close(): Promise<void> {
    await this.#exported.close();
  }

  #samples(traceId: string): boolean {
    return this.#sample === 1 || Number.parseInt(traceId.slice(-8), 16) / 2 ** 32 < this.#sample;
  }

  #notify(type: SpanEvent["type"], span: SpanRecord, { userId, conversationId }: SpanOwner): void {
    for (const follower of this.#followers) follower({ type, span, userId, conversationId });
  }

  /** The spans of an agent's call are in no journal. */
  #keep(call: AgentCall, spans: readonly SpanRecord[]): void {
    const outermost = spans.at(-1);
    if (outermost === undefined) return;
    const { traceId, spanId } = outermost;
    const rootSpanId = call.rootSpanId ?? spanId;
    const timestamp = this.#clock.now();
    this.#sink.chunk({ traceId, rootSpanId, timestamp, spans: JSON.stringify(spans) });
    if (call.rootSpanId !== undefined) return;
    const { entityType, entityId, executionId, userId, conversationId } = call;
    this.#sink.root({
      ...{ traceId, rootSpanId, entityType, entityId, executionId, userId, conversationId },
      startAt: Date.parse(outermost.startTime),
      endAt: timestamp,
      status: outermost.status === "error" ? "error" : "completed",
    });
  }
}

function spansSampled(spans: ExecutionSpans | undefined): boolean {
  return spans?.ids?.sampled ?? true;
}
