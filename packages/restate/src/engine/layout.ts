// The keys of a shard's state and the forms of its values.
//
// `r/<id>` is the row of an execution: a write has happened when its row is written. `i/` holds its input and context, `o/`
// a long outcome, `s/` its snapshot, `b<k>/` its events 16k + 1 to 16k + 16, `v<n>/` and `d<n>/` the long value and detail of
// the event n. `c<k>` is a set of executions with work to do, `t<k>` of those with times, `k<k>` of parked ones: a member
// only counts with its row. `x/` is the line of an execution in lists, `y/` that of an open suspension. `cv/` is a
// conversation and `fk/` a copy under way, `m/` holds the text of a message, `z/` and `q/` are their lines, and `w<k>` has the
// results of the last writes to conversations.
import type {
  ExecutionRecord,
  ExecutionRow,
  Outcome,
  StoredJson,
  Suspension,
  Timer,
} from "@andante/core/store";

/** An event as it is kept; `true`: its value or detail has a key of its own. */
export type KeptEvent = [
  type: string,
  timestamp: number,
  path: string | null,
  stepIndex: number | null,
  stepType: string | null,
  value: string | number | null | true,
  detail: string | null | true,
];

export interface Kept {
  record: ExecutionRecord;
  readonly fixed: FixedColumns;
  timeoutAt: number | null;
  /** Null while it has not ended, `true` when it has a key of its own. */
  outcome: Outcome | null | true;
  /** The time of the last event. */
  lastAt: number;
  /** The events after the last full bucket. */
  tail: KeptEvent[];
  /** The last writes: their keys, first and last events. */
  writes: [key: string, first: number, last: number][];
  suspensions: Suspension[];
  timers: Timer[];
}

/** The columns that no decision changes. */
export type FixedColumns = Pick<
  ExecutionRow,
  "workflowId" | "agentId" | "userId" | "conversationId" | "startAt" | "tags" | "replayOf" | "trace"
>;

export interface KeptInput {
  readonly input: StoredJson;
  readonly context: string;
}

/** Events in a bucket. */
export const bucketSize = 16;

/** Longer values and details have a key of their own: the row is written with each commit. */
export const longText = 2_000;

/** The writes that a row remembers. */
export const keptWrites = 24;

const sets = 16;

export const keys = {
  row: (id: string) => `r/${id}`,
  input: (id: string) => `i/${id}`,
  outcome: (id: string) => `o/${id}`,
  snapshot: (id: string) => `s/${id}`,
  bucket: (id: string, number: number) => `b${number}/${id}`,
  value: (id: string, sequence: number) => `v${sequence}/${id}`,
  detail: (id: string, sequence: number) => `d${sequence}/${id}`,
  /** The shard that holds a turn, where that is another one. */
  moved: (id: string) => `p/${id}`,
  working: (id: string) => `c${setOf(id)}`,
  timed: (id: string) => `t${setOf(id)}`,
  parked: (id: string) => `k${setOf(id)}`,
  line: (id: string) => `x/${id}`,
  waitingLine: (suspensionId: string) => `y/${suspensionId}`,
  leases: "leases",
};

/** All sets of one kind. */
export function allSets(kind: "c" | "t" | "k"): string[] {
  return Array.from({ length: sets }, (_, index) => `${kind}${index}`);
}

export type KeyKind = "part" | "set" | "row" | "line";

export function kindOf(key: string): KeyKind {
  if (/^[ctk]\d+$/.test(key)) return "set";
  if (/^(r|cv|fk)\//.test(key)) return "row";
  return /^[xyzq]\//.test(key) ? "line" : "part";
}

/** A member of the set of executions with work to do. */
export type Working = [
  startAt: number,
  /** "w" and the workflow, or "a" and the agent. */
  of: string,
  recoveries: number,
  owner: string | null,
  token: string | null,
];

/** A member of the set of executions with times: the first deadline or timeout, and the first timer while it is idle. */
export type Timed = [workflowId: string, limit: number | null, timer: number | null];

/** A member of the set of parked executions. */
export type Parked = [workflowId: string, parkedUnder: string | null, definition: string | null];

export type SetOf<Member> = Record<string, Member>;

/** The leases by owner: how often it has been declared alive or dead, and which it is now. */
export type Leases = Record<string, [count: number, isAlive: boolean]>;

/** A number that spreads ids evenly (FNV-1a). */
export function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

export function shardOf(id: string, shards: number): number {
  return hashOf(id) % shards;
}

function setOf(id: string): number {
  return (hashOf(id) >>> 16) % sets;
}
