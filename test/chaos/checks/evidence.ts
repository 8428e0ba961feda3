// The input of the checks: one execution after one life.
import type { Remains } from "../autopsy.ts";
import type { Line } from "../side-log.ts";

export interface Evidence {
  readonly executionId: string;
  readonly life: number;
  /** How the life before left it; undefined when it did not exist. */
  readonly before: Remains | undefined;
  /** How this life left it. */
  readonly after: Remains | undefined;
  /** The side log's entries about it, from all lives so far. */
  readonly lines: readonly Line[];
}

/** A sentence for each thing that is wrong. */
export type Check = (evidence: Evidence) => string[];
