// What counts over time are asked for with, and what they look like.

/** One stretch of time. */
export interface ActivityPoint {
  /** When it began. */
  readonly at: string;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
  readonly suspended: number;
  readonly cancelled: number;
  /** Milliseconds from start to end of those that completed in it; null when none has. */
  readonly p50: number | null;
}

export interface WorkflowActivity extends Durations {
  readonly workflowId: string;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
}

export interface Durations {
  /** Milliseconds from start to end of those that completed; null when none has. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface Activity extends Durations {
  readonly from: string;
  readonly to: string;
  readonly points: readonly ActivityPoint[];
  readonly workflows: readonly WorkflowActivity[];
  /** False when there were more executions than are counted: then the oldest are missing. */
  readonly complete: boolean;
}

export interface ActivityQuery {
  /** Counted together. No execution is in two of them. */
  readonly parts: readonly ActivityPart[];
  readonly from: Date;
  readonly to: Date;
  /** How many points, at most. */
  readonly points: number;
}

/** Some executions. */
export interface ActivityPart {
  /** Of this user alone. Default: of everyone. */
  readonly userId?: string | undefined;
  /** Of these workflows alone. Default: of all. */
  readonly workflowIds?: readonly string[] | undefined;
}
