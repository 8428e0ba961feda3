// A span of an execution that has begun and not ended.
import type { JournalEvent } from "../../journal/events.ts";
import type { SpanEventRecord } from "./span-record.ts";

export interface OpenSpan {
  /** The number of the event that began it. */
  readonly sequence: number;
  readonly startAt: number;
  /** Null for the whole execution. */
  readonly path: string | null;
  readonly stepType: string | null;
  readonly stepIndex: number | null;
  readonly parent: OpenSpan | undefined;
  /** The open spans right below it: a search through all open ones made long lists take quadratic time. */
  inside: Set<OpenSpan> | undefined;
  events: SpanEventRecord[] | undefined;
}

// OpenTelemetry's own limit: a body may emit a million events. The last ones stay, because they say how it ended.
const maxEvents = 128;

export function addEvent(span: OpenSpan, event: SpanEventRecord): void {
  span.events ??= [];
  if (span.events.length >= maxEvents) span.events.shift();
  span.events.push(event);
}

export function spanOf({ sequence, timestamp }: JournalEvent, parent: OpenSpan | undefined): OpenSpan {
  return {
    sequence,
    startAt: timestamp,
    path: null,
    stepType: null,
    stepIndex: null,
    parent,
    inside: undefined,
    events: undefined,
  };
}
