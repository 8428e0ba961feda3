// The spans of agents: model calls and tool calls, made by the AI SDK's own integration below the span that asks.
import type { Attributes, Context, SpanContext, SpanOptions } from "@opentelemetry/api";
import type { Telemetry } from "ai";
import type { MakeIntegration } from "./ai-sdk-integration.ts";
import { otelApi } from "./otel-api.ts";
import type { ReadableSpan, SpanProcessor } from "./readable-span.ts";
import { type Entity, recordOfSpan, type SpanRecord } from "./span-record.ts";
import { SpanTracer, type StartSpan } from "./span-tracer.ts";

/** One call of an agent. */
export interface AgentCall extends Entity {
  readonly agentId: string;
  readonly executionId: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  /** The span it belongs under; undefined when it begins a trace. */
  readonly parent: Context | undefined;
  /** The root of the trace, where the call is not its own. */
  readonly rootSpanId: string | undefined;
}

/** Receives the spans. */
export interface AgentSpanListener {
  wants(): boolean;
  started(span: SpanRecord, call: AgentCall): void;
  ended(span: SpanRecord, call: AgentCall): void;
  /** The call is over: all its spans, the outermost last. */
  finished(call: AgentCall, spans: readonly SpanRecord[]): void;
}

interface CallState {
  readonly call: AgentCall;
  readonly further: Attributes;
  readonly spans: SpanRecord[];
  /** The first span, by a key that both sides of the SDK know. */
  outermost: SpanContext | undefined;
}

const maxSpans = 1000;

/** Knows which span belongs to which call; the processor for them. */
export class AgentCalls implements SpanProcessor {
  readonly #listener: AgentSpanListener;
  readonly #states = new WeakMap<object, CallState>();

  constructor(listener: AgentSpanListener) {
    this.#listener = listener;
  }

  /** An integration for the AI SDK's `telemetry` option, for this call alone; `outermost` is its first span. */
  integration(
    make: MakeIntegration,
    startSpan: StartSpan,
    call: AgentCall,
  ): { readonly integration: Telemetry; outermost(): SpanContext | undefined } {
    const further: Attributes = {
      "gen_ai.agent.id": call.agentId,
      ...(call.executionId !== null && { "andante.execution.id": call.executionId }),
      ...(call.userId !== null && { "user.id": call.userId }),
      ...(call.conversationId !== null && { "gen_ai.conversation.id": call.conversationId }),
    };
    const state: CallState = { call, further, spans: [], outermost: undefined };
    const integration = make(
      new SpanTracer((name, options, context) => this.#start(startSpan, state, name, options, context)),
    );
    return { integration, outermost: () => state.outermost };
  }

  #start(
    startSpan: StartSpan,
    state: CallState,
    name: string,
    options: SpanOptions | undefined,
    context: Context | undefined,
  ): ReturnType<StartSpan> {
    // The integration finds its parent in the global context, which is the host's: the outermost span is put in its place.
    const { ROOT_CONTEXT, trace } = otelApi();
    const nested =
      state.outermost !== undefined && context !== undefined && trace.getSpan(context) !== undefined;
    const attributes = { ...options?.attributes, ...state.further };
    const parent = nested ? context : (state.call.parent ?? ROOT_CONTEXT);
    const span = startSpan(name, { ...options, attributes }, parent);
    this.#states.set(span, state);
    state.outermost ??= span.spanContext();
    if (this.#listener.wants()) this.#listener.started(recordOf(span, state), state.call);
    return span;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    const state = this.#states.get(span);
    if (state === undefined) return;
    const isOutermost = state.outermost?.spanId === span.spanContext().spanId;
    const record = recordOf(span, state);
    if (state.spans.length < maxSpans || isOutermost) state.spans.push(record);
    if (this.#listener.wants()) this.#listener.ended(record, state.call);
    if (isOutermost) this.#listener.finished(state.call, state.spans);
  }

  async forceFlush(): Promise<void> {}
  async shutdown(): Promise<void> {}
}

function recordOf(span: ReadableSpan, { call, further }: CallState): SpanRecord {
  const { entityType, entityId, executionId } = call;
  return recordOfSpan(span, { entityType, entityId }, executionId, further);
}
