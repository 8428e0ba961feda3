// Options of a host for traces.
import { OptionError } from "../../errors/index.ts";
import type { Resource, SpanProcessor } from "./readable-span.ts";

export interface TracingOptions {
  /**
   * OpenTelemetry span processors of version 2 or 3, each given every span of ours, such as `new BatchSpanProcessor(…)`
   * around an `OTLPTraceExporter`. A span is reported once, when it ends. They are shut down with Andante. Default: the
   * globally registered tracer provider; without one, the collector of OTEL_EXPORTER_OTLP_ENDPOINT. `[]`: none.
   */
  readonly processors?: readonly SpanProcessor[];
  /**
   * The resource of the spans, from `resourceFromAttributes(…)`. Default: the name in OTEL_SERVICE_NAME and
   * the attributes in OTEL_RESOURCE_ATTRIBUTES.
   */
  readonly resource?: Resource;
  /**
   * The share of traces that are made, 0 to 1. A caller's `traceparent` that is not sampled is kept here, not exported.
   * Default: 1.
   */
  readonly sample?: number;
  /** Whether spans of model and tool calls hold prompts, replies, arguments and results. Default: false. */
  readonly content?: boolean;
  /** Milliseconds that a trace is kept; that of an execution goes earlier where the execution does. Default: 7 days. */
  readonly maxAge?: number;
  /** Calls of agents that are kept and belong to no execution: those of executions take no room. Default: 100 000. */
  readonly maxCount?: number;
}

export function sampleOf(given = 1): number {
  if (given >= 0 && given <= 1) return given;
  throw new OptionError({ option: "tracing.sample", problem: "expected a number from 0 to 1" });
}
