// One span while it is recorded and after: the AI SDK writes to it, processors and exporters read it.
import type {
  Attributes,
  AttributeValue,
  Exception,
  HrTime,
  Link,
  Span,
  SpanContext,
  SpanKind,
  SpanStatus,
  TimeInput,
} from "@opentelemetry/api";
import { redactText } from "../../values/redact-text.ts";
import { genAiSchema, spanKind, statusCode } from "./otel-api.ts";
import type { ReadableSpan, Resource, TimedEvent } from "./readable-span.ts";

export interface SpanStart {
  readonly name: string;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  /** The instrumentation that made it, such as `gen_ai`. */
  readonly scope: string;
  readonly resource: Resource;
  readonly kind?: SpanKind | undefined;
  readonly attributes?: Attributes | undefined;
  readonly links?: readonly Link[] | undefined;
  /** Default: now. */
  readonly startTime?: TimeInput | undefined;
  /** The time in milliseconds since 1970. */
  readonly now: () => number;
  readonly ended: (span: ReadableSpan) => void;
}

/** The defaults of OpenTelemetry's SDK; attributes and events beyond them are counted and left out. */
const maxAttributes = 128;
const maxEvents = 128;
const maxLinks = 128;
const maxAttributeLength = 32 * 1024;

export class RecordingSpan implements Span, ReadableSpan {
  name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly attributes: Attributes = {};
  readonly links: Link[] = [];
  readonly events: TimedEvent[] = [];
  readonly resource: Resource;
  readonly instrumentationScope: { readonly name: string; readonly schemaUrl: string };
  status: SpanStatus = { code: statusCode.unset };
  endTime: HrTime = [0, 0];
  duration: HrTime = [0, 0];
  ended = false;
  droppedAttributesCount = 0;
  droppedEventsCount = 0;
  droppedLinksCount = 0;
  readonly #context: SpanContext;
  readonly #ended: (span: ReadableSpan) => void;
  readonly #now: () => number;
  #attributeCount = 0;
  /** The monotonic clock at the start, where the span began now: durations do not follow a clock that is set. */
  readonly #began: number | undefined;

  constructor(start: SpanStart) {
    this.name = start.name;
    this.kind = start.kind ?? spanKind.internal;
    this.#context = start.context;
    if (start.parent !== undefined) this.parentSpanContext = start.parent;
    this.resource = start.resource;
    this.instrumentationScope = { name: start.scope, schemaUrl: genAiSchema };
    this.#ended = start.ended;
    this.#began = start.startTime === undefined ? performance.now() : undefined;
    this.#now = start.now;
    this.startTime = hrTimeOf(start.startTime ?? start.now());
    this.setAttributes(start.attributes ?? {});
    this.addLinks(start.links ?? []);
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  isRecording(): boolean {
    return !this.ended;
  }

  setAttribute(key: string, value: AttributeValue | undefined): this {
    if (this.ended || value === undefined || value === null) return this;
    if (!Object.hasOwn(this.attributes, key)) {
      if (this.#attributeCount === maxAttributes) {
        this.droppedAttributesCount++;
        return this;
      }
      this.#attributeCount++;
    }
    this.attributes[key] = keptOf(key, value);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const [key, value] of Object.entries(attributes)) this.setAttribute(key, value);
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.ended) return this;
    const given = isTime(attributesOrTime)
      ? { attributes: {}, time: attributesOrTime }
      : { attributes: attributesOrTime ?? {}, time };
    if (this.events.length === maxEvents) {
      this.events.shift();
      this.droppedEventsCount++;
    }
    const entries = Object.entries(given.attributes).filter(([, value]) => value !== undefined);
    const kept = entries.slice(0, maxAttributes).map(([key, value]) => [key, value && keptOf(key, value)]);
    const droppedAttributesCount = entries.length - kept.length;
    const attributes: Attributes = Object.fromEntries(kept);
    this.events.push({ name, attributes, time: this.#timeOf(given.time), droppedAttributesCount });
    return this;
  }

  addLink(link: Link): this {
    if (this.ended) return this;
    if (this.links.length === maxLinks) this.droppedLinksCount++;
    else this.links.push(link);
    return this;
  }

  addLinks(links: readonly Link[]): this {
    for (const link of links) this.addLink(link);
    return this;
  }

  /** "Ok" is the last word; a message is kept with an error only. */
  setStatus({ code, message }: SpanStatus): this {
    if (this.ended || code === statusCode.unset || this.status.code === statusCode.ok) return this;
    const why = code === statusCode.error && message !== undefined ? { message: redactText(message) } : {};
    this.status = { code, ...why };
    return this;
  }

  updateName(name: string): this {
    if (!this.ended) this.name = name;
    return this;
  }

  recordException(exception: Exception, time?: TimeInput): void {
    const error = typeof exception === "string" ? { message: exception } : exception;
    const type = error.code === undefined ? error.name : String(error.code);
    const attributes: Attributes = {
      ...(type && { "exception.type": type }),
      ...(error.message && { "exception.message": error.message }),
      ...(error.stack && { "exception.stacktrace": error.stack }),
    };
    this.addEvent("exception", attributes, time);
  }

  end(time?: TimeInput): void {
    if (this.ended) return;
    const end = this.#timeOf(time);
    // A clock that was set back makes no negative durations.
    this.endTime = isBefore(end, this.startTime) ? this.startTime : end;
    this.duration = between(this.startTime, this.endTime);
    this.ended = true;
    this.#ended(this);
  }

  #timeOf(given: TimeInput | undefined): HrTime {
    if (given !== undefined) return hrTimeOf(given);
    if (this.#began === undefined) return hrTimeOf(this.#now());
    const [seconds, nanoseconds] = this.startTime;
    const passed = hrTimeOfMilliseconds(performance.now() - this.#began);
    return carried(seconds + passed[0], nanoseconds + passed[1]);
  }
}

/** The stored form of an attribute: error texts lose their secrets, as in the log. */
function keptOf(key: string, value: AttributeValue): AttributeValue {
  return typeof value === "string" && ofError.test(key) ? redactText(value) : shortened(value);
}

const ofError = /^(?:exception|error)\./;

function shortened(value: AttributeValue): AttributeValue {
  if (typeof value === "string") return value.slice(0, maxAttributeLength);
  if (!Array.isArray(value) || !value.some((item) => typeof item === "string")) return value;
  return value.map((item) => (typeof item === "string" ? item.slice(0, maxAttributeLength) : null));
}

function isTime(value: Attributes | TimeInput | undefined): value is TimeInput {
  return typeof value === "number" || value instanceof Date || Array.isArray(value);
}

/** A number is milliseconds since 1970, or, where it is small, a value of `performance.now()`. */
function hrTimeOf(time: TimeInput): HrTime {
  if (Array.isArray(time)) return time;
  if (time instanceof Date) return hrTimeOfMilliseconds(time.getTime());
  return hrTimeOfMilliseconds(time <= performance.now() ? performance.timeOrigin + time : time);
}

function hrTimeOfMilliseconds(milliseconds: number): HrTime {
  const seconds = Math.trunc(milliseconds / 1000);
  return carried(seconds, Math.round((milliseconds - seconds * 1000) * 1_000_000));
}

function carried(seconds: number, nanoseconds: number): HrTime {
  return nanoseconds < 1e9 ? [seconds, nanoseconds] : [seconds + 1, nanoseconds - 1e9];
}

function isBefore(a: HrTime, b: HrTime): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

function between(from: HrTime, to: HrTime): HrTime {
  const nanoseconds = to[1] - from[1];
  return nanoseconds < 0 ? [to[0] - from[0] - 1, nanoseconds + 1e9] : [to[0] - from[0], nanoseconds];
}
