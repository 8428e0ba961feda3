// A span as lists, sockets and the store know it.
import type { Attributes, HrTime } from "@opentelemetry/api";
import { spanKind, statusCode } from "./otel-api.ts";
import type { ReadableSpan } from "./readable-span.ts";

/** The subject of a trace: the workflow or agent that was called first, not the agents that it called in turn. */
export interface Entity {
  readonly entityType: "workflow" | "agent";
  readonly entityId: string;
}

export interface SpanEventRecord {
  readonly name: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** User and conversation of a span; null for none. */
export interface SpanOwner {
  readonly userId: string | null;
  readonly conversationId: string | null;
}

export interface SpanRecord extends Entity {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  /** The execution it belongs to; null for a call of an agent alone. */
  readonly executionId: string | null;
  readonly name: string;
  readonly kind: "internal" | "server" | "client" | "producer" | "consumer";
  /** ISO 8601. */
  readonly startTime: string;
  /** ISO 8601; null while it is open. */
  readonly endTime: string | null;
  /** Milliseconds; null while it is open. */
  readonly duration: number | null;
  readonly status: "unset" | "ok" | "error";
  /** The failure. */
  readonly message?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Errors, suspensions, retries and the like. */
  readonly events: readonly SpanEventRecord[];
}

const kinds = {
  [spanKind.internal]: "internal",
  [spanKind.server]: "server",
  [spanKind.client]: "client",
  [spanKind.producer]: "producer",
  [spanKind.consumer]: "consumer",
} as const;

const statuses = {
  [statusCode.unset]: "unset",
  [statusCode.ok]: "ok",
  [statusCode.error]: "error",
} as const;

/** The fields of a span of an agent. */
export function recordOfSpan(
  span: ReadableSpan,
  entity: Entity,
  executionId: string | null,
  further: Attributes,
): SpanRecord {
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    ...entity,
    executionId,
    name: span.name,
    kind: kinds[span.kind],
    startTime: isoOf(span.startTime),
    endTime: span.ended ? isoOf(span.endTime) : null,
    duration: span.ended ? milliseconds(span.duration) : null,
    status: statuses[span.status.code],
    ...(span.status.message && { message: span.status.message }),
    attributes: { ...span.attributes, ...further },
    events: span.events.map(({ name, time, attributes = {} }) => ({
      name,
      timestamp: isoOf(time),
      attributes,
    })),
  };
}

function milliseconds([seconds, nanoseconds]: HrTime): number {
  return Math.round(seconds * 1_000_000 + nanoseconds / 1000) / 1000;
}

function isoOf(time: HrTime): string {
  return new Date(milliseconds(time)).toISOString();
}
