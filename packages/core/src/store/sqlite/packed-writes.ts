// The two writes that every execution makes, as they cross to the database thread: without names, and without what is
// empty nearly always.
//
// With names, reading messages was a tenth of what that thread did for an execution of one step.
import { inTime } from "../in-time.ts";
import { numbered } from "../sql/journal-row.ts";
import type { Commit, CommitResult, NewExecution, Resume, ResumeResult } from "../store.ts";
import type { WrittenEvent } from "../stored-event.ts";

type PackedEvent = readonly [
  type: string,
  timestamp: number,
  path: string | null,
  stepIndex: number | null,
  stepType: string | null,
  value: WrittenEvent["value"],
  detail: string | null,
];

type RareOfCommit = Pick<
  Required<Commit>,
  "usage" | "open" | "closeEnded" | "closeBelow" | "timers" | "clear" | "idle"
> &
  Pick<Commit, "others">;
type RareOfCreate = Pick<NewExecution, "usage" | "tags" | "replay">;

export type PackedCommit = readonly [
  executionId: string,
  token: string,
  number: number,
  after: number | null,
  stepIndex: number,
  progress: boolean,
  events: readonly PackedEvent[],
  following: readonly PackedEvent[],
  end: Commit["end"],
  rare: RareOfCommit | null,
];

/** A commit with nothing rare, whose events are short and refer to no value: their row is made before it crosses. */
export type ShortCommit = readonly [
  executionId: string,
  token: string,
  number: number,
  after: number,
  stepIndex: number,
  progress: boolean,
  row: string,
  /** How many of its events are outcomes, and how many there are. */
  outcomes: number,
  count: number,
  end: Commit["end"],
  lastAt: number,
];

/** Characters of a row that are not made in the thread: it is text within text then, and quotes in it grow. */
const shortRow = 4096;

export type PackedCreate = readonly [
  executionId: string,
  workflowId: string,
  input: string | null,
  context: string,
  userId: string | null,
  conversationId: string | null,
  startAt: number,
  timeoutAt: number | null,
  owner: string,
  token: string,
  events: readonly PackedEvent[],
  definition: string | null,
  trace: string | null,
  rare: RareOfCreate | null,
];

/** What a commit without anything rare has. */
const nothingRare: RareOfCommit = {
  usage: null,
  open: [],
  closeEnded: [],
  closeBelow: [],
  timers: [],
  clear: [],
  idle: null,
};

export function packCommit(commit: Commit): PackedCommit | ShortCommit {
  const { executionId, token, number, after = null, stepIndex, progress, end } = commit;
  const { usage, open, closeEnded = [], closeBelow, timers, clear, idle, others } = commit;
  const lists = open.length + closeEnded.length + closeBelow.length + timers.length + clear.length;
  const rare =
    lists === 0 && usage === null && idle === null && others === undefined
      ? null
      : { usage, open, closeEnded, closeBelow, timers, clear, idle, ...(others && { others }) };
  const outcomes = commit.events.length;
  const all: PackedEvent[] = [];
  for (const event of commit.events) all.push(packEvent(event));
  for (const event of commit.following) all.push(packEvent(event));
  if (rare === null && after !== null) {
    const lastAt = all.at(-1)?.[1];
    const row = lastAt === undefined || all.some(refers) ? undefined : JSON.stringify(all);
    if (row !== undefined && lastAt !== undefined && row.length <= shortRow) {
      const count = all.length;
      return [executionId, token, number, after, stepIndex, progress, row, outcomes, count, end, lastAt];
    }
  }
  const [events, following] = [all.slice(0, outcomes), all.slice(outcomes)];
  return [executionId, token, number, after, stepIndex, progress, events, following, end, rare];
}

export function isShort(packed: PackedCommit | ShortCommit): packed is ShortCommit {
  return typeof packed[6] === "string";
}

/** What comes of a commit that finds the execution as its owner knows it. */
export function usualResult({ after = 0, events, following, idle }: Commit): CommitResult {
  const count = events.length + following.length + (idle?.event ? 1 : 0);
  return { kind: "ok", sequence: after + count, idle: idle !== null };
}

export function isUsual(commit: Commit, { kind, sequence, idle }: CommitResult): boolean {
  const usual = usualResult(commit);
  return commit.after !== undefined && kind === "ok" && sequence === usual.sequence && idle === usual.idle;
}

/** What comes of a resume that finds the execution idle, as its caller knows it. */
export function usualResume({ events, last = { sequence: 0, at: 0 } }: Resume): ResumeResult {
  return { kind: "claimed", events: numbered(last.sequence, inTime(events, last.at)) };
}

/** As it was before it was packed: a short one that cannot be recorded as it stands. */
export function unpackShort(packed: ShortCommit): Commit {
  const [executionId, token, number, after, stepIndex, progress, row, outcomes, , end] = packed;
  const events: readonly PackedEvent[] = JSON.parse(row);
  const lists = [events.slice(0, outcomes), events.slice(outcomes)] as const;
  return unpackCommit([executionId, token, number, after, stepIndex, progress, ...lists, end, null]);
}

/** True when its value stands elsewhere. */
function refers([, , , , , value]: PackedEvent): boolean {
  return typeof value === "object" && value !== null;
}

export function unpackCommit(packed: PackedCommit): Commit {
  const [executionId, token, number, after, stepIndex, progress, events, following, end, rare] = packed;
  const { usage, open, closeEnded, closeBelow, timers, clear, idle, others } = rare ?? nothingRare;
  return {
    executionId,
    token,
    number,
    ...(after !== null && { after }),
    stepIndex,
    progress,
    events: events.map(unpackEvent),
    following: following.map(unpackEvent),
    end,
    usage,
    open,
    closeEnded,
    closeBelow,
    timers,
    clear,
    idle,
    ...(others && { others }),
  };
}

export function packCreate(execution: NewExecution): PackedCreate {
  const { claim, usage, tags, replay } = execution;
  const isRare = usage || replay !== undefined || (tags !== undefined && tags.length > 0);
  return [
    execution.executionId,
    execution.workflowId,
    execution.input,
    execution.context,
    execution.userId,
    execution.conversationId,
    execution.startAt,
    execution.timeoutAt,
    claim.owner,
    claim.token,
    execution.events.map(packEvent),
    execution.definition ?? null,
    execution.trace ?? null,
    isRare ? rareOfCreate(execution) : null,
  ];
}

export function unpackCreate(packed: PackedCreate): NewExecution {
  const [executionId, workflowId, input, context, userId, conversationId, startAt, timeoutAt, ...rest] =
    packed;
  const [owner, token, events, definition, trace, rare] = rest;
  return {
    executionId,
    workflowId,
    input,
    context,
    userId,
    conversationId,
    startAt,
    timeoutAt,
    claim: { owner, token },
    events: events.map(unpackEvent),
    trace,
    ...(definition !== null && { definition }),
    ...rare,
  };
}

function rareOfCreate({ usage, tags, replay }: NewExecution): RareOfCreate {
  return {
    ...(usage !== undefined && { usage }),
    ...(tags !== undefined && { tags }),
    ...(replay !== undefined && { replay }),
  };
}

function packEvent(event: WrittenEvent): PackedEvent {
  const { type, timestamp, path, stepIndex, stepType, value, detail } = event;
  return [type, timestamp, path, stepIndex, stepType, value, detail];
}

function unpackEvent(packed: PackedEvent): WrittenEvent {
  const [type, timestamp, path, stepIndex, stepType, value, detail] = packed;
  return { type, timestamp, path, stepIndex, stepType, value, detail };
}
