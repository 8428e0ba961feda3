// The spans of one Andante on their way to the host: to its processors, else to its registered provider or by its environment.
import { randomBytes } from "node:crypto";
import type { Attributes, Context, SpanContext, SpanOptions } from "@opentelemetry/api";
import { globalProvider } from "./global-provider.ts";
import { isRegistered, otelApi, statusCode, traceFlags } from "./otel-api.ts";
import type { ReadableSpan, Resource, SpanProcessor } from "./readable-span.ts";
import { RecordingSpan, type SpanStart } from "./recording-span.ts";
import type { SpanRecord } from "./span-record.ts";
import type { TracingOptions } from "./tracing-options.ts";

interface ExportOptions {
  readonly processors?: TracingOptions["processors"] | undefined;
  readonly resource: Resource;
  readonly now: () => number;
  /** The export that the environment asks for. */
  readonly environment?: SpanProcessor | undefined;
}

export class ExportedSpans {
  readonly #processors: readonly SpanProcessor[];
  readonly #resource: Resource;
  /** True where the registered provider receives the spans too. */
  readonly #global: boolean;
  readonly #forHost: boolean;
  readonly #now: () => number;

  /** `own` receives the spans of agents beside the host's processors; `report` is called for one that throws. */
  constructor(options: ExportOptions, own: SpanProcessor, report: (error: unknown) => void) {
    const { processors, environment } = options;
    const given = processors ?? (environment === undefined ? [] : [environment]);
    this.#forHost = given.length > 0;
    this.#global = processors === undefined;
    const all = this.#global ? [globalProvider, ...given] : given;
    this.#processors = [own, ...all.map((processor) => guarded(processor, report))];
    this.#resource = options.resource;
    this.#now = options.now;
  }

  /** True when the host listens. */
  get wanted(): boolean {
    return this.#forHost || (this.#global && isRegistered("trace"));
  }

  /** Hands the host a span that was derived from a journal. */
  give(span: SpanRecord, sampled: boolean): void {
    if (span.endTime === null) return;
    const { traceId, spanId, parentSpanId } = span;
    const { ROOT_CONTEXT, trace } = otelApi();
    const parent =
      parentSpanId === null ? ROOT_CONTEXT : contextOf({ traceId, spanId: parentSpanId, sampled });
    const made = this.#begin(
      {
        name: span.name,
        scope: "@andante/core",
        context: { traceId, spanId, traceFlags: flagsBelow(trace.getSpanContext(parent)) },
        startTime: new Date(span.startTime),
        attributes: attributesOf(span.attributes),
      },
      parent,
    );
    for (const { name, timestamp, attributes } of span.events) {
      made.addEvent(name, attributesOf(attributes), new Date(timestamp));
    }
    const { message } = span;
    made.setStatus({ code: statusCode[span.status], ...(message !== undefined && { message }) });
    made.end(new Date(span.endTime));
  }

  /** Begins a span of an agent. */
  startSpan(
    name: string,
    options: SpanOptions = {},
    context: Context = otelApi().context.active(),
  ): RecordingSpan {
    const { trace } = otelApi();
    const { root = false, kind, attributes, links, startTime } = options;
    const parent = root ? trace.deleteSpan(context) : context;
    const above = trace.getSpanContext(parent);
    const own: SpanContext = {
      traceId: above?.traceId ?? randomBytes(16).toString("hex"),
      spanId: randomBytes(8).toString("hex"),
      traceFlags: flagsBelow(above),
    };
    return this.#begin({ name, scope: "gen_ai", context: own, kind, attributes, links, startTime }, parent);
  }

  /** Lets the host's processors send their spans. */
  async close(): Promise<void> {
    await Promise.all(this.#processors.map((processor) => processor.shutdown()));
  }

  #begin(start: Omit<SpanStart, "parent" | "resource" | "now" | "ended">, context: Context): RecordingSpan {
    const span = new RecordingSpan({
      ...start,
      parent: otelApi().trace.getSpanContext(context),
      resource: this.#resource,
      now: this.#now,
      ended: (ended: ReadableSpan) => {
        for (const processor of this.#processors) processor.onEnd(ended);
      },
    });
    for (const processor of this.#processors) processor.onStart(span, context);
    return span;
  }
}

/** Below a caller that is not sampled, spans are kept here and not exported. */
function flagsBelow(parent: SpanContext | undefined): number {
  return parent === undefined ? traceFlags.sampled : parent.traceFlags & traceFlags.sampled;
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
  const flags = sampled ? traceFlags.sampled : traceFlags.none;
  const context: SpanContext = { traceId, spanId, traceFlags: flags };
  const { ROOT_CONTEXT, trace } = otelApi();
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
