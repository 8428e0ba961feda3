// The query and the result of counts over time.

/** One interval. */
export interface ActivityPoint {
  /** Start of the interval. */
  readonly at: string;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
  readonly suspended: number;
  readonly cancelled: number;
  /** Milliseconds from start to end of the executions that completed in the interval; null for none. */
  readonly p50: number | null;
}

export interface WorkflowActivity extends Durations {
  readonly workflowId: string;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
}

export interface Durations {
  /** Milliseconds from start to end of completed executions; null for none. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface Activity extends Durations {
  readonly from: string;
  readonly to: string;
  readonly points: readonly ActivityPoint[];
  readonly workflows: readonly WorkflowActivity[];
  /** False when the limit was reached: then the oldest executions are missing. */
  readonly complete: boolean;
}

export interface ActivityQuery {
  /** Disjoint sets of executions, counted together. */
  readonly parts: readonly ActivityPart[];
  readonly from: Date;
  readonly to: Date;
  /** Maximum number of points. */
  readonly points: number;
}

/** A set of executions. */
export interface ActivityPart {
  /** Only this user's executions. Default: all users'. */
  readonly userId?: string | undefined;
  /** Only executions of these workflows. Default: of all. */
  readonly workflowIds?: readonly string[] | undefined;
}
