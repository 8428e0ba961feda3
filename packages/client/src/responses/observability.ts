// What the server says about all executions at once, about itself, and what it has observed.
import type { ExecutionStatus, Suspension } from "./executions.ts";

export interface ServerStatus {
  readonly version: string;
  readonly store: { readonly name: string; readonly bytes: number | null };
  /** How many executions run, of everyone, and how many may; `running` is null for a caller that sees only its own. */
  readonly slots: { readonly running: number | null; readonly limit: number };
  /** How many executions are suspended, of everyone; null for a caller that sees only its own. */
  readonly suspended: number | null;
  readonly authentication: boolean;
  /** Who the caller is. */
  readonly user: { readonly id?: string | undefined; readonly [field: string]: unknown } | null;
}

/** An open suspension with the execution that waits there. */
export interface InboxItem {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | null;
  readonly startAt: string;
  readonly suspension: Suspension;
  /** Resume data that fits. */
  readonly example?: unknown;
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  /** More wait than are on this page. */
  readonly more: boolean;
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

interface Durations {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface ActivityPoint {
  readonly at: string;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
  readonly suspended: number;
  readonly cancelled: number;
  /** Milliseconds from start to end of those that completed in it; null when none has. */
  readonly p50: number | null;
}

export interface Activity extends Durations {
  readonly from: string;
  readonly to: string;
  readonly points: readonly ActivityPoint[];
  readonly workflows: readonly (Durations & {
    readonly workflowId: string;
    readonly started: number;
    readonly completed: number;
    readonly failed: number;
  })[];
  /** False when there were more executions than were counted. */
  readonly complete: boolean;
}

/** How long the steps of a workflow take, and how often each fails. */
export interface StepActivity {
  readonly from: string;
  readonly to: string;
  /** At most this many runs are counted, the newest; null where all of them are. */
  readonly runs: number | null;
  readonly steps: readonly (Durations & {
    readonly stepPath: string;
    readonly completed: number;
    readonly failed: number;
    readonly retried: number;
  })[];
}

/** What has changed of one execution. */
export interface ExecutionChange {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | null;
  /** Absent where it is as it was. */
  readonly status?: ExecutionStatus | undefined;
  readonly stepPath?: string | undefined;
  readonly sequence: number;
  readonly timestamp: string;
}

export type ChangeEvent =
  /** The feed is open, for the first time or again: read what you show, then follow. */
  | { readonly type: "open" }
  /** `missed`: how many more executions have changed, too many to name. */
  | { readonly type: "changes"; readonly executions: readonly ExecutionChange[]; readonly missed: number };

export interface LogRecord {
  readonly timestamp: string;
  readonly level: LogLevel;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface TraceSummary {
  readonly traceId: string;
  readonly rootSpanId: string;
  readonly entityType: "workflow" | "agent";
  readonly entityId: string;
  readonly executionId: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  readonly startTime: string;
  readonly endTime: string | null;
  readonly status: string;
}

export interface TracePage {
  readonly traces: readonly TraceSummary[];
  readonly nextCursor: string | null;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly entityType: "workflow" | "agent";
  readonly entityId: string;
  readonly executionId: string | null;
  readonly name: string;
  readonly kind: "internal" | "server" | "client" | "producer" | "consumer";
  readonly startTime: string;
  readonly endTime: string | null;
  /** Milliseconds. */
  readonly duration: number | null;
  readonly status: "unset" | "ok" | "error";
  readonly message?: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly {
    readonly name: string;
    readonly timestamp: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
}

export interface Trace {
  readonly traceId: string;
  readonly roots: readonly TraceSummary[];
  /** In the order in which they began, at most 10 000. */
  readonly spans: readonly Span[];
  /** False when the trace has more spans. One whose end was not read has none, as if it were open. */
  readonly complete: boolean;
}
