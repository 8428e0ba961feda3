// The traces of one Andante: lists, one in full, and the spans that come.
import { readJournal } from "../../journal/read-journal.ts";
import { checkLimit, isTimeAndId, readCursor, writeCursor } from "../../store/cursor.ts";
import type { TraceQuery, TraceRoot } from "../../store/observation-store.ts";
import type { Store } from "../../store/store.ts";
import { maxPageLength, textLength } from "../../store/text-length.ts";
import type { Clock } from "../../values/clock.ts";
import { isoTime } from "../../values/iso-time.ts";
import type { Flushable } from "../log/logs.ts";
import { ExecutionSpans } from "./execution-spans.ts";
import { nameOfExecution } from "./span-attributes.ts";
import type { SpanRecord } from "./span-record.ts";
import { maxRoots, TraceList } from "./trace-list.ts";
import type { SpanEvent, Tracing } from "./tracing.ts";

/** `entityType` and `entityId`: the workflow or agent that was called first in the trace. */
export interface TraceFilter
  extends Pick<TraceQuery, "entityType" | "entityId" | "executionId" | "userId" | "status"> {
  /** Started at this time or later. */
  readonly from?: Date | undefined;
  /** Started before this time. */
  readonly to?: Date | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Default: 50; at most 500. */
  readonly limit?: number | undefined;
}

/** A trace in a list. */
export interface TraceSummary extends Omit<TraceRoot, "startAt" | "endAt"> {
  /** ISO 8601. */
  readonly startTime: string;
  readonly endTime: string | null;
}

export interface TracePage {
  readonly traces: readonly TraceSummary[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** A trace in full. A caller's trace may hold several executions. */
export interface Trace {
  readonly traceId: string;
  readonly roots: readonly TraceSummary[];
  /** In the order in which they began, at most 10 000. */
  readonly spans: readonly SpanRecord[];
  /**
   * False when it has more spans. Its roots and the first spans are shown then; a span whose end was not read has none,
   * as if it were open.
   */
  readonly complete: boolean;
}

/** Spans that are read of a trace: a loop may have made a million, and a thousand executions may belong to it. */
const maxSpansOfTrace = 10_000;

export interface TraceBounds {
  /** How long a trace is kept, in milliseconds. */
  readonly maxAge: number;
  readonly clock: Pick<Clock, "now">;
  /** How many of its spans are read. Default: 10 000. */
  readonly maxSpans?: number;
}

export class Traces {
  readonly #store: Store;
  readonly #writer: Flushable;
  readonly #tracing: Tracing | undefined;
  readonly #maxSpans: number;
  readonly #list: TraceList;

  constructor(store: Store, writer: Flushable, tracing: Tracing | undefined, bounds: TraceBounds) {
    const { maxAge, clock, maxSpans = maxSpansOfTrace } = bounds;
    this.#store = store;
    this.#writer = writer;
    this.#tracing = tracing;
    this.#maxSpans = maxSpans;
    this.#list = new TraceList(store, maxAge, clock);
  }

  /** Traces, newest first, a page at a time. */
  async list(filter: TraceFilter = {}): Promise<TracePage> {
    const { cursor, limit = 50, from, to, ...equal } = filter;
    checkLimit(limit);
    const before = cursor === undefined ? undefined : readCursor(cursor, isTimeAndId);
    await this.#writer.flush();
    const query = { ...equal, from: from?.getTime(), to: to?.getTime() };
    const { page, more } = await this.#list.page(query, before, limit);
    return {
      traces: page.map(summaryOf),
      nextCursor: more === undefined ? null : writeCursor(...more),
    };
  }

  /**
   * One trace with its spans; undefined when there is none, or none that `userId` may see. Throws when `signal` is aborted
   * meanwhile.
   */
  async read(traceId: string, userId?: string, signal?: AbortSignal): Promise<Trace | undefined> {
    await this.#writer.flush();
    const { roots, chunks } = await this.#list.trace(traceId, userId, signal);
    const visible = roots.filter((root) => userId === undefined || root.userId === userId);
    if (visible.length === 0) return undefined;
    const ids = new Set(visible.map(({ rootSpanId }) => rootSpanId));
    const spans: SpanRecord[] = chunks
      .filter(({ rootSpanId }) => ids.has(rootSpanId))
      .flatMap((chunk): SpanRecord[] => JSON.parse(chunk.spans));
    let complete = roots.length < maxRoots && textLength(chunks) < maxPageLength;
    const stored = spans.length;
    for (const root of visible) {
      const room = this.#maxSpans - (spans.length - stored);
      const read = room > 0 ? await readSpans(this.#store, root, room, signal) : undefined;
      // One by one: any number of them may be open.
      for (const span of read?.spans ?? []) spans.push(span);
      complete &&= read?.complete ?? root.executionId === null;
    }
    const known = new Set(spans.map(({ spanId }) => spanId));
    spans.push(...visible.filter(({ rootSpanId }) => !known.has(rootSpanId)).map(spanOfRoot));
    complete &&= spans.length <= this.#maxSpans;
    return { traceId, roots: visible.map(summaryOf), spans: this.#cut(inOrder(spans), ids), complete };
  }

  /** Hands every span that begins or ends from now on to `follower`, until the function that it returns is called. */
  follow(follower: (event: SpanEvent) => void): () => void {
    return this.#tracing?.follow(follower) ?? (() => undefined);
  }

  /** The roots, and the first of the others: the parents of a span begin before it. */
  #cut(spans: readonly SpanRecord[], roots: ReadonlySet<string>): readonly SpanRecord[] {
    if (spans.length <= this.#maxSpans) return spans;
    let room = this.#maxSpans - roots.size;
    return spans.filter(({ spanId }) => roots.has(spanId) || room-- > 0);
  }
}

function summaryOf({ startAt, endAt, ...rest }: TraceRoot): TraceSummary {
  const endTime = endAt === null ? null : new Date(endAt).toISOString();
  return { ...rest, startTime: new Date(startAt).toISOString(), endTime };
}

/**
 * Sorts the spans of a trace in place: as they began, and those that began in the same millisecond from the outside to the
 * inside.
 */
export function inOrder(spans: SpanRecord[]): SpanRecord[] {
  const parents = new Map(spans.map(({ spanId, parentSpanId }) => [spanId, parentSpanId]));
  const depths = new Map<string, number>();
  /** The number of the trace's spans around it. Parents come from callers too, so a circle of them must end. */
  const depthOf = (spanId: string): number => {
    const above: string[] = [];
    let known: number | undefined;
    for (let id: string | null = spanId; id !== null && parents.has(id); id = parents.get(id) ?? null) {
      known = depths.get(id);
      if (known !== undefined) break;
      depths.set(id, 0);
      above.push(id);
    }
    for (const id of above.reverse()) {
      known = known === undefined ? 0 : known + 1;
      depths.set(id, known);
    }
    return depths.get(spanId) ?? 0;
  };
  const keyed = spans.map((span) => ({ span, at: Date.parse(span.startTime), depth: depthOf(span.spanId) }));
  keyed.sort((one, other) => one.at - other.at || one.depth - other.depth);
  for (const [index, { span }] of keyed.entries()) spans[index] = span;
  return spans;
}

interface ReadSpans {
  readonly spans: readonly SpanRecord[];
  /** False when the journal was not read to its end. */
  readonly complete: boolean;
}

/** Reads until more than `room` spans have ended; the spans that are open then are returned too. Throws when `signal` is aborted. */
async function readSpans(
  store: Store,
  root: TraceRoot,
  room: number,
  signal?: AbortSignal,
): Promise<ReadSpans> {
  const { executionId, entityId: workflowId, userId, conversationId } = root;
  if (executionId === null) return { spans: [], complete: true };
  const ended: SpanRecord[] = [];
  const spans = new ExecutionSpans(
    { executionId, workflowId, userId, conversationId },
    { wants: () => true, ended: (span) => ended.push(span) },
  );
  let complete = true;
  for await (const { events } of readJournal(store, { executionId, signal })) {
    for (const event of events) spans.apply(event);
    complete = spans.endAt !== null || ended.length <= room;
    if (!complete) break;
  }
  // The row has the end of the execution; the ends of steps that were open at this place are not known.
  if (!complete) spans.status = root.status;
  const open = spans.endAt === null ? spans.unfinished() : [];
  const [outermost] = open;
  if (!complete && outermost !== undefined) open[0] = { ...outermost, ...endOf(root) };
  return { spans: [...open, ...ended], complete };
}

/** For a root whose own span was not read: it is written last, and spans are read up to a bound. */
function spanOfRoot(root: TraceRoot): SpanRecord {
  const { traceId, rootSpanId, entityType, entityId, executionId, startAt } = root;
  return {
    traceId,
    spanId: rootSpanId,
    parentSpanId: null,
    entityType,
    entityId,
    executionId,
    name: entityType === "workflow" ? nameOfExecution(entityId) : `invoke_agent ${entityId}`,
    kind: "internal",
    startTime: isoTime(startAt),
    ...endOf(root),
    attributes: {},
    events: [],
  };
}

function endOf({ startAt, endAt, status }: TraceRoot): Pick<SpanRecord, "endTime" | "duration" | "status"> {
  return {
    endTime: endAt === null ? null : isoTime(endAt),
    duration: endAt === null ? null : endAt - startAt,
    status: status === "completed" ? "ok" : status === "error" ? "error" : "unset",
  };
}
