// A span as OpenTelemetry's span processors and exporters read it.
//
// The types are ours and not those of its SDK: versions 2 and 3 of that agree on them, and each allows only some versions
// of the API beside it. Were one of them a dependency, it would decide which exporters a host can install.
import type {
  Attributes,
  Context,
  HrTime,
  Link,
  Span,
  SpanContext,
  SpanKind,
  SpanStatus,
} from "@opentelemetry/api";

/** Something that happened during a span. */
export interface TimedEvent {
  readonly time: HrTime;
  readonly name: string;
  readonly attributes?: Attributes;
  readonly droppedAttributesCount?: number;
}

/** The resource of spans: attributes of the service, as far as exporters read them. */
export interface Resource {
  readonly attributes: Attributes;
  /** True while some attributes are still being found out. */
  readonly asyncAttributesPending?: boolean;
  readonly schemaUrl?: string;
  waitForAsyncAttributes?(): Promise<void>;
}

export interface ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  spanContext(): SpanContext;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly ended: boolean;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
  readonly links: Link[];
  readonly events: TimedEvent[];
  readonly resource: Resource;
  readonly instrumentationScope: {
    readonly name: string;
    readonly version?: string;
    readonly schemaUrl?: string;
  };
  readonly droppedAttributesCount: number;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
}

/** Receives each span, such as OpenTelemetry's `BatchSpanProcessor`. */
export interface SpanProcessor {
  onStart(span: Span & ReadableSpan, parent: Context): void;
  onEnd(span: ReadableSpan): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}
