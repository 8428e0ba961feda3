// The traces of one Andante: lists, one in full, and the spans that come.

import { InvalidOptionError } from "../../errors/index.ts";
import { readJournal } from "../../journal/read-journal.ts";
import { isTimeAndId, readCursor, writeCursor } from "../../store/cursor.ts";
import type { TraceRoot } from "../../store/observation-store.ts";
import type { Store } from "../../store/store.ts";
import type { Flushable } from "../log/logs.ts";
import { ExecutionSpans } from "./execution-spans.ts";
import { inOrder } from "./in-order.ts";
import type { SpanRecord } from "./span-record.ts";
import { TraceList } from "./trace-list.ts";
import type { SpanEvent, Tracing } from "./tracing.ts";

export interface TraceFilter {
  /** What was called first in the trace. */
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
  /** In the order in which they began. */
  readonly spans: readonly SpanRecord[];
}

/** Spans that are read of a trace: a loop may have made a million, and a thousand executions may belong to it. */
const maxSpansOfTrace = 10_000;

export class Traces {
  readonly #store: Store;
  readonly #writer: Flushable;
  readonly #tracing: Tracing | undefined;
  readonly #maxSpans: number;
  readonly #list: TraceList;

  /** `maxAge` is how long a trace is kept, in milliseconds; `maxSpans` how many of its spans are read. */
  constructor(
    store: Store,
    writer: Flushable,
    tracing: Tracing | undefined,
    maxAge: number,
    maxSpans = maxSpansOfTrace,
  ) {
    this.#store = store;
    this.#writer = writer;
    this.#tracing = tracing;
    this.#maxSpans = maxSpans;
    this.#list = new TraceList(store, maxAge);
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

  /** One trace with its spans; undefined when there is none, or none that `userId` may see. */
  async read(traceId: string, userId?: string): Promise<Trace | undefined> {
    await this.#writer.flush();
    const { roots, chunks } = await this.#list.trace(traceId, userId);
    const visible = roots.filter((root) => userId === undefined || root.userId === userId);
    if (visible.length === 0) return undefined;
    const ids = new Set(visible.map(({ rootSpanId }) => rootSpanId));
    const spans: SpanRecord[] = chunks
      .filter(({ rootSpanId }) => ids.has(rootSpanId))
      .flatMap((chunk): SpanRecord[] => JSON.parse(chunk.spans));
    for (const root of visible) {
      if (spans.length >= this.#maxSpans) break;
      spans.push(...(await this.#derived(root, this.#maxSpans - spans.length)));
    }
    return { traceId, roots: visible.map(summaryOf), spans: inOrder(spans) };
  }

  /** Hands every span that begins or ends from now on to `follower`, until the function that it returns is called. */
  follow(follower: (event: SpanEvent) => void): () => void {
    return this.#tracing?.follow(follower) ?? (() => undefined);
  }

  /** The spans of an execution and its steps, from its journal, as many as there is room for. */
  async #derived(
    { executionId, entityId, userId, conversationId }: TraceRoot,
    room: number,
  ): Promise<SpanRecord[]> {
    if (executionId === null) return [];
    const ended: SpanRecord[] = [];
    const spans = new ExecutionSpans(
      { executionId, workflowId: entityId, userId, conversationId },
      { wants: () => ended.length < room, started: () => undefined, ended: (span) => ended.push(span) },
    );
    for await (const { events } of readJournal(this.#store, { executionId })) {
      for (const event of events) spans.apply(event);
      if (ended.length >= room) break;
    }
    // Parents before their children, also where they began in the same millisecond.
    const open = spans.endAt === null ? spans.unfinished() : [];
    return [...open, ...ended.reverse()].slice(0, room);
  }
}

function summaryOf({ startAt, endAt, ...rest }: TraceRoot): TraceSummary {
  const endTime = endAt === null ? null : new Date(endAt).toISOString();
  return { ...rest, startTime: new Date(startAt).toISOString(), endTime };
}
