// Counts per minute, workflow and step: the part of the store contract that charts over time are read from.
//
// Each process adds its counts, every few seconds and outside of commits: the counts of all of them are sums.

/**
 * The kind of event. A step is `completed`, `failed` or `retried`, and `tokens` are those of its agents; the others are of
 * executions. The duration of `answered` is the time that a suspension waited for its answer.
 */
export type RollupKind = (typeof rollupKinds)[number];

const rollupKinds = [
  "started",
  "completed",
  "failed",
  "suspended",
  "cancelled",
  "retried",
  "tokens",
  "answered",
] as const;

/** For stores: whether a column holds one. */
export function isRollupKind(value: string): value is RollupKind {
  return rollupKinds.some((kind) => kind === value);
}

/** The key of a count. */
export interface RollupPlace {
  readonly workflowId: string;
  /** The path of the step without the numbers of iterations; empty for the execution as a whole. */
  readonly step: string;
  readonly kind: RollupKind;
  /** Which range of durations, a small number; -1 where none is known. */
  readonly bucket: number;
}

export interface RollupCount extends RollupPlace {
  /** Minutes since 1970. */
  readonly minute: number;
  readonly count: number;
}

/** Adds counts. The writer and the number are its key: repeating the newest one adds nothing. */
export interface RollupBatch {
  /** A random id of the process. */
  readonly writer: string;
  /** Grows by 1 with each batch of this writer. */
  readonly number: number;
  /** Each place and minute once. */
  readonly counts: readonly RollupCount[];
}

/** A range of minutes, and a filter. */
export interface RollupRange {
  /** This minute and later. */
  readonly from: number;
  /** Before this minute. */
  readonly to: number;
  readonly workflowId?: string | undefined;
}

export interface RollupPoint {
  /** Which stretch of `width` minutes since `from`: 0, 1, 2 … */
  readonly index: number;
  readonly kind: RollupKind;
  readonly bucket: number;
  readonly count: number;
}

export interface RollupTotal extends RollupPlace {
  readonly count: number;
}

/** The range to keep: minutes from here on. */
export interface RollupTrim {
  readonly executions: number;
  readonly steps: number;
  /** Bounds how much one call removes of each, because everything else waits for it. */
  readonly limit: number;
}

export interface RollupStore {
  add(batch: RollupBatch): Promise<void>;
  /**
   * Executions, without their steps, by kind and range of durations, summed up over each `width` minutes; in any order,
   * stretches without any are absent.
   */
  overTime(query: RollupRange & { readonly width: number }): Promise<readonly RollupPoint[]>;
  /** Executions, or the steps of executions, summed up over the whole range; in any order. */
  totals(query: RollupRange & { readonly of: "executions" | "steps" }): Promise<readonly RollupTotal[]>;
  /** Removes the oldest beyond the bounds; returns how many rows were removed. */
  trim(trim: RollupTrim): Promise<number>;
}
