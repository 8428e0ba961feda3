// The tracer provider that the host has registered with OpenTelemetry's API, as one more receiver of spans.
//
// The API offers `startSpan` alone: a context gives the trace and the parent, and the provider makes the span's id. Ours are
// derived and were handed out before the span ended, so the made span reports our id in place of its own.
import type { SpanContext } from "@opentelemetry/api";
import { propertyOf } from "../../values/fields.ts";
import { isRegistered, otelApi } from "./otel-api.ts";
import type { ReadableSpan, SpanProcessor } from "./readable-span.ts";

export const globalProvider: SpanProcessor = {
  onStart() {},

  onEnd(span: ReadableSpan): void {
    if (!isRegistered("trace")) return;
    const { ROOT_CONTEXT, trace } = otelApi();
    const { name: scope, version, ...options } = span.instrumentationScope;
    const { name, kind, attributes, links, startTime, parentSpanContext } = span;
    // A span without a parent gets itself as one: samplers see our trace id then, and the decision of `tracing.sample`.
    const above = trace.setSpanContext(ROOT_CONTEXT, parentSpanContext ?? span.spanContext());
    const made = trace
      .getTracerProvider()
      .getTracer(scope, version, options)
      .startSpan(name, { kind, attributes, links, startTime }, above);
    if (!made.isRecording()) return;
    for (const { name: event, attributes: details, time } of span.events) made.addEvent(event, details, time);
    made.setStatus(span.status);
    const context: SpanContext = { ...made.spanContext(), ...idsOf(span.spanContext()) };
    Object.defineProperty(made, "spanContext", { value: () => context });
    if (parentSpanContext === undefined)
      Object.defineProperty(made, "parentSpanContext", { value: undefined });
    made.end(span.endTime);
  },

  /** Sends its spans, for a process that is about to exit. */
  async forceFlush(): Promise<void> {
    if (!isRegistered("trace")) return;
    const provider = otelApi().trace.getTracerProvider();
    const registered = method(provider, "getDelegate")?.() ?? provider;
    await method(registered, "forceFlush")?.();
  },

  /** The provider is the host's: it may have more to report after Andante has closed. */
  shutdown: () => globalProvider.forceFlush(),
};

function idsOf({ traceId, spanId }: SpanContext): Pick<SpanContext, "traceId" | "spanId"> {
  return { traceId, spanId };
}

/** A method that the API does not declare, and OpenTelemetry's SDKs have. */
function method(owner: unknown, name: string): (() => unknown) | undefined {
  const found = propertyOf(owner, name);
  return typeof found === "function" ? () => found.call(owner) : undefined;
}
