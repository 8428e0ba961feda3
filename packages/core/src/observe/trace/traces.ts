// The traces of one Andante: lists, one in full, and the spans that come.

import { InvalidOptionError } from "../../errors/index.ts";
import { isTimeAndId, readCursor, writeCursor } from "../../store/cursor.ts";
import type { TraceRoot } from "../../store/observation-store.ts";
import type { Store } from "../../store/store.ts";
import { maxPageLength, textLength } from "../../store/text-length.ts";
import type { Clock } from "../../values/clock.ts";
import type { Flushable } from "../log/logs.ts";
import { inOrder } from "./in-order.ts";
import { readSpans, spanOfRoot } from "./read-spans.ts";
import type { SpanRecord } from "./span-record.ts";
import { maxRoots, TraceList } from "./trace-list.ts";
import type { SpanEvent, Tracing } from "./tracing.ts";

export interface TraceFilter {
  /** The workflow or agent that was called first in the trace. */
  readonly entityType?: "workflow" | "agent" | undefined;
  readonly entityId?: string | undefined;
  readonly executionId?: string | undefined;
  readonly userId?: string | undefined;
  readonly status?: string | undefined;
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
export interface TraceSummary {
  readonly traceId: string;
  readonly rootSpanId: string;
  readonly entityType: "workflow" | "agent";
  readonly entityId: string;
  readonly executionId: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  /** ISO 8601. */
  readonly startTime: string;
  readonly endTime: string | null;
  readonly status: string;
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
    if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
      throw new InvalidOptionError({ option: "limit", problem: "expected a whole number from 1 to 500" });
    }
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
