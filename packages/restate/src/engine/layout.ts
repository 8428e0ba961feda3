// The keys of a shard's state and the forms of its values.
//
// `r/<id>` is the row of an execution: a write has happened when its row is written. `i/` holds a long input and context, `o/`
// a long outcome, `s/` its snapshot, `b<k>/` its events 16k + 1 to 16k + 16, `v<n>/` and `d<n>/` the long value and detail of
// the event n. Sets find executions (sets.ts): `c` those with work to do, `l` and `t` those with times, `k` those that are
// parked; `q` finds conversations with queued messages, `h` schedules and deliveries by their times, `e` signals by their places, `g` work of signals by its time. `y/` is an open suspension in lists.
// `sg/` is a signal, `si/` finds it by its id, `wt/` is a wait for signals and `wk/` work that they leave.
// `cv/` is a conversation and `fk/` a copy under way, `m/` holds the text of a message, `sc/` is a schedule or a delivery and `so/` has its
// occurrences or attempts, and `w<k>` has the results of the last writes to conversations. SQL finds rows, open suspensions, schedules,
// conversations and copies by the fields before the value (lines.ts).
import {
  deliveryPrefix,
  type ExecutionRecord,
  type ExecutionRow,
  executionOfDelivery,
  type Outcome,
  type ScheduleKind,
  type StoredJson,
  type Suspension,
  type Timer,
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
  /** `true` when it has a key of its own. */
  readonly input: KeptInput | true;
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

/** Longer texts have a key of their own: the row is written with each commit. */
export const longText = 2_000;

/** The writes that a row remembers. */
export const keptWrites = 24;

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
  waiting: (suspensionId: string) => `y/${suspensionId}`,
  leases: "leases",
  schedule: (id: string) => `sc/${id}`,
  occurrences: (id: string) => `so/${id}`,
  signal: (seq: number) => `sg/${seq}`,
  signalId: (home: string, id: string) => `si/${JSON.stringify([home, id])}`,
  wait: (waitId: string) => `wt/${waitId}`,
  work: (workId: string) => `wk/${workId}`,
};

export const sets = {
  ...{ working: "c", limits: "l", timers: "t", parked: "k" },
  ...{ queues: "q", schedules: "h", signals: "e", works: "g" },
} as const;

/** A head is a conversation or a copy: its turn counts with a row of its own. A mark says that a write was performed. */
export type KeyKind = "part" | "line" | "member" | "head" | "row" | "mark";

export function kindOf(key: string): KeyKind {
  if (key.startsWith("+")) return "member";
  // A delivery is written before the row of the execution that it is kept with.
  if (key.startsWith(`sc/${deliveryPrefix}`)) return "part";
  if (/^(r|sc|sg)\//.test(key)) return "row";
  if (/^(cv|fk)\//.test(key)) return "head";
  if (key.startsWith("y/") || key.startsWith("wt/")) return "line";
  return /^(w\d+|writers|usageWriters)$/.test(key) ? "mark" : "part";
}

/** An execution with work to do, by its owner; without one by "". */
export type Working = readonly [
  owner: string,
  startAt: number,
  executionId: string,
  /** "w" and the workflow, or "a" and the agent. */
  of: string,
  recoveries: number,
];

/** An execution by its first deadline or timeout, or by its first timer while it is idle. */
export type Timed = readonly [
  of: "",
  at: number,
  executionId: string,
  workflowId: string,
  userId: string | null,
  agentId: string | null,
  /** It has ended, and the end is due. */
  ended?: true,
];

/** An execution that is parked, by its workflow. */
export type Parked = readonly [
  workflowId: string,
  at: 0,
  executionId: string,
  parkedUnder: string | null,
  definition: string | null,
];

/** A conversation by the agent and the time of its first queued message. */
export type Queued = readonly [agentId: string, at: number, conversationId: string];

/** A schedule or a delivery by its next time. */
export type TimedSchedule = readonly [
  of: "",
  at: number,
  scheduleId: string,
  workflowId: string,
  agentId: string | null,
  kind: ScheduleKind,
];

/** A signal by its place and number. */
export type PlacedSignal = readonly [of: string, seq: number, id: "", sentAt: number];

/** Work of signals by its time. */
export type TimedWork = readonly [of: "", at: number, workId: string, target: string];

/** The leases by owner: how often it has been declared alive or dead, and which it is now. */
export type Leases = Record<string, [count: number, isAlive: boolean]>;

/** A number that spreads ids evenly (FNV-1a). */
export function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/**
 * The executions of a schedule are in its shard: the end of their ids, which a nominal time makes, does not count. The deliveries of
 * an execution are in the shard of the execution.
 */
export function shardOf(id: string, shards: number): number {
  const subject = executionOfDelivery(id) ?? id;
  return hashOf(subject.replace(/@\d{8}T\d{6}Z[\w-]*$/, "")) % shards;
}
