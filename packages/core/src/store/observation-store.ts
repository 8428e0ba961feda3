// Where logs and traces are kept: the part of the store contract that no execution depends on.
//
// The spans of an execution and its steps are read from its journal; only spans that the journal does not hold, such as model
// calls, are kept here. A *trace root* is the first span of ours in a trace: one row that lists find it by.

/** One log line. */
export interface StoredLog {
  /** Microseconds since 1970, or one more than the line before: the order of lines, and the key for times. */
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /** 0 debug, 1 info, 2 warn, 3 error. */
  readonly level: number;
  readonly workflowId: string | null;
  readonly executionId: string | null;
  readonly agentId: string | null;
  readonly conversationId: string | null;
  /** The user of the line; null without one. */
  readonly userId: string | null;
  /** The whole line, a JSON object. */
  readonly record: string;
  /** The process that wrote it, where that is another one. */
  readonly node?: string;
}

export interface TraceRoot {
  readonly traceId: string;
  readonly rootSpanId: string;
  readonly entityType: "workflow" | "agent";
  readonly entityId: string;
  readonly executionId: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly startAt: number;
  /** Null while it is open. */
  readonly endAt: number | null;
  /** `running`, `suspended`, `completed`, `error` or `cancelled`. */
  readonly status: string;
}

/** Spans of one trace root that ended about the same time. */
export interface SpanChunk {
  readonly traceId: string;
  readonly rootSpanId: string;
  /** When the last of them ended. */
  readonly timestamp: number;
  /** A JSON array of spans. */
  readonly spans: string;
}

export interface ObservationBatch {
  readonly logs: readonly StoredLog[];
  /** A root that is known already is replaced. */
  readonly roots: readonly TraceRoot[];
  readonly chunks: readonly SpanChunk[];
}

/** Filters of a list of lines: the newest that match, oldest first. */
export interface LogQuery {
  /** The lowest level. */
  readonly level?: number | undefined;
  readonly workflowId?: string | undefined;
  readonly executionId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly userId?: string | undefined;
  /** Lines of this id or a higher one. */
  readonly from?: number | undefined;
  /** Lines up to this id. */
  readonly upTo?: number | undefined;
  readonly limit: number;
}

/** Filters of a list of traces; newest first. */
export interface TraceQuery {
  readonly entityType?: "workflow" | "agent" | undefined;
  readonly entityId?: string | undefined;
  readonly executionId?: string | undefined;
  readonly userId?: string | undefined;
  readonly status?: string | undefined;
  /** Started at this time or later. */
  readonly from?: number | undefined;
  /** Started before this time. */
  readonly to?: number | undefined;
  /** The last row of the page before. */
  readonly before?: { readonly startAt: number; readonly rootSpanId: string } | undefined;
  readonly limit: number;
  /** Stop once the strings of the rows (`textLength`) are as long as this; at least one is read. Default and most: 8 000 000. */
  readonly length?: number | undefined;
}

export interface StoredTrace {
  readonly roots: readonly TraceRoot[];
  readonly chunks: readonly SpanChunk[];
}

/** How many lines and traces may stay. */
export interface KeepCounts {
  readonly logs: number;
  readonly traces: number;
}

/** The oldest that stay when only so many may: the id of a line, the start of a trace; 0 when there are not more. */
export interface KeepFrom {
  readonly logs: number;
  readonly traces: number;
}

/**
 * The range to keep: ids of lines and starts of traces from here on; `limit` bounds how much one call removes of each kind,
 * because everything else waits for it.
 */
export interface Trim extends KeepFrom {
  readonly limit: number;
}

export interface ObservationStore {
  append(batch: ObservationBatch): Promise<void>;
  /** At most 8 000 000 characters of them, the newest. */
  logs(query: LogQuery): Promise<readonly StoredLog[]>;
  /**
   * The newest lines from this id on that other processes have written, oldest first, at most 8 000 000 characters of
   * them. Absent where one process has the store to itself.
   */
  logsElsewhere?(query: { readonly from: number; readonly limit: number }): Promise<readonly StoredLog[]>;
  /**
   * The newest spans that other processes have written and that ended at this time or later, oldest first, at most
   * 8 000 000 characters of them. Absent where one process has the store to itself.
   */
  spansElsewhere?(query: {
    readonly from: number;
    readonly limit: number;
  }): Promise<readonly (SpanChunk & { readonly id: string })[]>;
  traces(query: TraceQuery): Promise<readonly TraceRoot[]>;
  /** The roots of the trace, at most 1000, and its spans in the order in which they ended, the first 8 000 000 characters of them. */
  trace(traceId: string): Promise<StoredTrace>;
  /** Where the rows beyond these counts begin; counted beside the writes, which do not wait for it. */
  keepFrom(counts: KeepCounts): Promise<KeepFrom>;
  /** Removes the oldest beyond the bounds; returns how many were removed. */
  trim(trim: Trim): Promise<number>;
  /** How many executions are suspended now. */
  countSuspended(): Promise<number>;
}
