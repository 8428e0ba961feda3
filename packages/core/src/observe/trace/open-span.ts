// A span of an execution or of a step that has begun and not ended, and a form of all of them that can be kept.
import type { JournalEvent } from "../../journal/events.ts";
import { isRecord } from "../../values/fields.ts";
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

/** The open spans of steps by their paths. */
export type OpenSpans = Map<string, OpenSpan>;

/** A span as plain data, with the path of the span around it: null for the root, and below it. */
type PackedSpan = Omit<OpenSpan, "parent" | "inside"> & { readonly parent: string | null };

/** Facts about the execution that are packed with its open spans. */
interface SpansState {
  /** The caller's W3C header. */
  readonly traceparent?: string | undefined;
  readonly status: string;
  /** The number of the last event that was applied. */
  readonly last: number;
}

/** The open spans of an execution as plain data. */
interface PackedSpans extends SpansState {
  readonly root: PackedSpan;
  readonly open: readonly PackedSpan[];
}

/** The open spans of an execution. */
interface UnpackedSpans extends SpansState {
  readonly root: OpenSpan;
  readonly open: OpenSpans;
}

// OpenTelemetry's own limit: a body may emit a million events. The last ones stay, because they show how it ended.
const maxEvents = 128;

export function addEvent(span: OpenSpan, event: SpanEventRecord): void {
  span.events ??= [];
  if (span.events.length >= maxEvents) span.events.shift();
  span.events.push(event);
}

const ofExecution: Pick<OpenSpan, "path" | "stepType" | "stepIndex"> = {
  path: null,
  stepType: null,
  stepIndex: null,
};

export function spanOf(
  { sequence, timestamp }: Pick<JournalEvent, "sequence" | "timestamp">,
  parent: OpenSpan | undefined,
  { path, stepType, stepIndex } = ofExecution,
): OpenSpan {
  return {
    sequence,
    startAt: timestamp,
    path,
    stepType,
    stepIndex,
    parent,
    inside: undefined,
    events: undefined,
  };
}

/** The span is one of those right below its parent. */
export function addInside(span: OpenSpan): void {
  const { parent } = span;
  if (parent === undefined) return;
  parent.inside ??= new Set();
  parent.inside.add(span);
}

export function packSpans({ root, open, ...state }: UnpackedSpans): string {
  const packed: PackedSpans = { ...state, root: packSpan(root), open: Array.from(open.values(), packSpan) };
  return JSON.stringify(packed);
}

function packSpan({ parent, inside: _, ...span }: OpenSpan): PackedSpan {
  return { ...span, parent: parent?.path ?? null };
}

function isPackedSpans(value: unknown): value is PackedSpans {
  return (
    isRecord(value) &&
    typeof value.last === "number" &&
    typeof value.status === "string" &&
    [value.root, ...(Array.isArray(value.open) ? value.open : [null])].every(isRecord)
  );
}

export function unpackSpans(text: string): UnpackedSpans {
  const packed: unknown = JSON.parse(text);
  if (!isPackedSpans(packed)) throw new TypeError("The open spans of a snapshot are damaged");
  const root: OpenSpan = { ...packed.root, parent: undefined, inside: undefined };
  const open: OpenSpans = new Map();
  for (const span of packed.open) {
    const parent = (span.parent === null ? undefined : open.get(span.parent)) ?? root;
    const unpacked: OpenSpan = { ...span, parent, inside: undefined };
    addInside(unpacked);
    open.set(span.path ?? "", unpacked);
  }
  return { ...packed, root, open };
}
