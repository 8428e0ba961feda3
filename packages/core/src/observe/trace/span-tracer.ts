// OpenTelemetry's tracer from a function that begins spans.
import type { Context, Span, SpanOptions, Tracer } from "@opentelemetry/api";
import { otelApi } from "./otel-api.ts";
import type { ReadableSpan } from "./readable-span.ts";

/** Begins a span; without a context below the active one. */
export type StartSpan = (name: string, options?: SpanOptions, context?: Context) => Span & ReadableSpan;

type Work = (span: Span) => unknown;

export class SpanTracer implements Tracer {
  readonly startSpan: Tracer["startSpan"];

  constructor(startSpan: Tracer["startSpan"]) {
    this.startSpan = startSpan;
  }

  startActiveSpan<F extends Work>(name: string, work: F): ReturnType<F>;
  startActiveSpan<F extends Work>(name: string, options: SpanOptions, work: F): ReturnType<F>;
  startActiveSpan<F extends Work>(
    name: string,
    options: SpanOptions,
    context: Context,
    work: F,
  ): ReturnType<F>;
  startActiveSpan(name: string, first: SpanOptions | Work, second?: Context | Work, third?: Work): unknown {
    const { context: contextApi, trace } = otelApi();
    const options = typeof first === "function" ? {} : first;
    const context = second === undefined || typeof second === "function" ? contextApi.active() : second;
    const work = [first, second, third].find((given) => typeof given === "function");
    const span = this.startSpan(name, options, context);
    return contextApi.with(trace.setSpan(context, span), () => work?.(span));
  }
}
