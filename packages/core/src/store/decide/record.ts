// The row of an execution as a decision reads and changes it: without the values that may be long.
import type { Claim, ExecutionKind, ExecutionStatus } from "../store.ts";
import type { StoredUsage } from "../usage.ts";

export interface ExecutionRecord {
  readonly executionId: string;
  readonly kind: ExecutionKind;
  status: ExecutionStatus;
  /** The number of the last event. */
  sequence: number;
  stepIndex: number;
  openSuspensions: number;
  paused: boolean;
  /** How many events of resumes the journal holds. */
  resumes: number;
  owner: string | null;
  token: string | null;
  /** The number of the last commit under the claim. */
  commits: number;
  idle: boolean;
  recoveries: number;
  usage: StoredUsage | null;
  endAt: number | null;
  parked: string | null;
  parkedUnder: string | null;
  definition: string | null;
  links: string | null;
}

/** The columns of the record of every new execution that do not depend on it. */
export const newRecord = {
  status: "running",
  openSuspensions: 0,
  paused: false,
  commits: 0,
  idle: false,
  recoveries: 0,
  endAt: null,
  parked: null,
  parkedUnder: null,
} as const satisfies Partial<ExecutionRecord>;

/** Gives the execution to a new owner, whose commits are numbered from 1. */
export function giveClaim(record: ExecutionRecord, { owner, token }: Claim): void {
  record.owner = owner;
  record.token = token;
  record.commits = 0;
  record.idle = false;
}

export function releaseClaim(record: ExecutionRecord): void {
  record.owner = null;
  record.token = null;
}
