// Spans as OpenTelemetry's SDK makes them, for the host's processors. Nothing global is touched.
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import {
  BasicTracerProvider,
  type IdGenerator,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { SpanRecord } from "./span-record.ts";
import type { TracingOptions } from "./tracing-options.ts";

/** Hands out ids that were asked for, else random ones. */
class RequestedIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #wanted: { readonly traceId: string; readonly spanId: string } | undefined;

  during<T>(wanted: { readonly traceId: string; readonly spanId: string }, work: () => T): T {
    this.#wanted = wanted;
    try {
      return work();
    } finally {
      this.#wanted = undefined;
    }
  }
  generateTraceId = (): string => this.#wanted?.traceId ?? this.#random.generateTraceId();
  generateSpanId = (): string => this.#wanted?.spanId ?? this.#random.generateSpanId();
}

/** Below a caller that is not sampled spans are kept here, and no exporter takes them. */
const keepAll: Sampler = {
  shouldSample(context) {
    const parent = trace.getSpanContext(context);
    const sampled = parent === undefined || (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    return { decision: sampled ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.RECORD };
  },
  toString: () => "andante",
};

const statusCodes = { unset: SpanStatusCode.UNSET, ok: SpanStatusCode.OK, error: SpanStatusCode.ERROR };
const longestAttribute = 32 * 1024;

export class ExportedSpans {
  readonly #ids = new RequestedIds();
  readonly #provider: BasicTracerProvider;
  readonly #executions: Tracer;
  readonly #forHost: boolean;
  /** Makes the spans of agents. */
  readonly agents: Tracer;

  /** `own` is given the spans of agents beside the host's processors; `report` is told of one that throws. */
  constructor(options: TracingOptions, own: SpanProcessor, report: (error: unknown) => void) {
    const host = (options.processors ?? []).map((processor) => guarded(processor, report));
    this.#forHost = host.length > 0;
    this.#provider = new BasicTracerProvider({
      idGenerator: this.#ids,
      sampler: keepAll,
      spanProcessors: [own, ...host],
      spanLimits: { attributeValueLengthLimit: longestAttribute },
      ...(options.resource && { resource: options.resource }),
    });
    this.#executions = this.#provider.getTracer("@andante/core");
    this.agents = this.#provider.getTracer("gen_ai");
  }

  /** True when the host listens. */
  get wanted(): boolean {
    return this.#forHost;
  }

  /** Hands the host a span that was derived from a journal. */
  give(span: SpanRecord, sampled: boolean): void {
    if (span.endTime === null) return;
    const { traceId, spanId, parentSpanId } = span;
    const parent =
      parentSpanId === null ? ROOT_CONTEXT : contextOf({ traceId, spanId: parentSpanId, sampled });
    const made = this.#ids.during({ traceId, spanId }, () =>
      this.#executions.startSpan(
        span.name,
        {
          startTime: new Date(span.startTime),
          kind: SpanKind.INTERNAL,
          attributes: attributesOf(span.attributes),
        },
        parent,
      ),
    );
    for (const { name, timestamp, attributes } of span.events) {
      made.addEvent(name, attributesOf(attributes), new Date(timestamp));
    }
    const { message } = span;
    made.setStatus({ code: statusCodes[span.status], ...(message !== undefined && { message }) });
    made.end(new Date(span.endTime));
  }

  /** Lets the host's processors send what they hold. */
  async close(): Promise<void> {
    await this.#provider.shutdown();
  }
}

/** A processor whose faults are not an execution's: spans are made where commits are published. */
function guarded(processor: SpanProcessor, report: (error: unknown) => void): SpanProcessor {
  const survive = (work: () => void) => {
    try {
      work();
    } catch (error) {
      report(error);
    }
  };
  return {
    onStart: (span, context) => survive(() => processor.onStart(span, context)),
    onEnd: (span) => survive(() => processor.onEnd(span)),
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}

/** The context in which this span is the active one. */
export function contextOf(place: { traceId: string; spanId: string; sampled: boolean }): Context {
  const { traceId, spanId, sampled } = place;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const context: SpanContext = { traceId, spanId, traceFlags };
  return trace.setSpanContext(ROOT_CONTEXT, context);
}

function attributesOf(record: Readonly<Record<string, unknown>>): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(record)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      attributes[name] = value;
  }
  return attributes;
}
