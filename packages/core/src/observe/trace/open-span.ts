// A span of an execution or of a step that has begun and not ended, and a form of all of them that can be kept.
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

/** The open spans of an execution as plain data; `parent` is the path of the span around it, null for the root. */
export interface PackedSpans {
  /** The caller's W3C header. */
  readonly traceparent: string | undefined;
  readonly status: string;
  /** The number of the last event that they tell of. */
  readonly last: number;
  readonly root: Pick<OpenSpan, "sequence" | "startAt" | "events">;
  readonly open: readonly (Omit<OpenSpan, "parent" | "inside"> & { readonly parent: string | null })[];
}

// OpenTelemetry's own limit: a body may emit a million events. The last ones stay, because they say how it ended.
const maxEvents = 128;

export function addEvent(span: OpenSpan, event: SpanEventRecord): void {
  span.events ??= [];
  if (span.events.length >= maxEvents) span.events.shift();
  span.events.push(event);
}

export function spanOf({ sequence, timestamp }: JournalEvent, parent: OpenSpan | undefined): OpenSpan {
  return rootOf({ sequence, startAt: timestamp, events: undefined }, parent);
}

function rootOf({ sequence, startAt, events }: PackedSpans["root"], parent: OpenSpan | undefined): OpenSpan {
  return {
    sequence,
    startAt,
    path: null,
    stepType: null,
    stepIndex: null,
    parent,
    inside: undefined,
    events,
  };
}

/** The span is one of those right below its parent. */
export function addInside(span: OpenSpan): void {
  const { parent } = span;
  if (parent === undefined) return;
  parent.inside ??= new Set();
  parent.inside.add(span);
}

export function packOpen(open: Iterable<OpenSpan>): PackedSpans["open"] {
  return Array.from(open, ({ inside: _, parent, ...span }) => ({ ...span, parent: parent?.path ?? null }));
}

/** The root, and the others by path. */
export function unpackSpans(packed: PackedSpans): { root: OpenSpan; open: Map<string, OpenSpan> } {
  const root = rootOf(packed.root, undefined);
  const open = new Map<string, OpenSpan>();
  for (const { parent, ...span } of packed.open) {
    const around = (parent === null ? undefined : open.get(parent)) ?? root;
    const unpacked: OpenSpan = { ...span, parent: around, inside: undefined };
    addInside(unpacked);
    open.set(span.path ?? "", unpacked);
  }
  return { root, open };
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
