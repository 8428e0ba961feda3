// The commit of a step, as a list with the row of the journal in it.
//
// Most commits record the outcome of a step and the start of the next one: their events cross to the database thread as the
// text that the journal keeps, which the thread stores without reading it, and without the names of 16 fields, most of them
// empty. This takes 5 % off the processor time of a request of three steps, and 2 % off that of one step.
import { isPlain } from "../decide/plain-commit.ts";
import { readWholeRow, rowText } from "../sql/journal-row.ts";
import type { Commit } from "../store.ts";
import type { WrittenEvent } from "../stored-event.ts";

export type PackedCommit = readonly [
  executionId: string,
  token: string,
  number: number,
  after: number,
  stepIndex: number,
  progress: boolean,
  /** The events, and how many of them are outcomes. */
  row: string,
  outcomes: number,
  following: number,
  lastAt: number,
  end: Commit["end"],
];

/** Characters: a row is text within text on its way, and its quotes grow. */
const longestRow = 4096;

/** The commit itself when it has more than events and an end, or is long. */
export function packCommit(commit: Commit): Commit | PackedCommit {
  const { after, idle, open, closeEnded, closeBelow, timers, clear } = commit;
  if (after === undefined || idle !== null || !isPlain(commit)) return commit;
  const changes = open.length + (closeEnded?.length ?? 0) + closeBelow.length + timers.length + clear.length;
  const events = [...commit.events, ...commit.following];
  const lastAt = commit.following.at(-1)?.timestamp;
  if (changes > 0 || lastAt === undefined || events.some(refersToAnother)) return commit;
  const row = rowText(after, events);
  if (row.length > longestRow) return commit;
  const { executionId, token, number, stepIndex, progress, end } = commit;
  const counts = [commit.events.length, commit.following.length] as const;
  return [executionId, token, number, after, stepIndex, progress, row, ...counts, lastAt, end];
}

export function unpackCommit(commit: Commit | PackedCommit): Commit {
  if ("executionId" in commit) return commit;
  const [executionId, token, number, after, stepIndex, progress, row, outcomes, following, , end] = commit;
  const events = readWholeRow(after + outcomes + following, row).map(({ sequence: _, ...event }) => event);
  const nothing = { usage: null, idle: null, open: [], closeBelow: [], timers: [], clear: [] };
  return {
    ...{ executionId, token, number, after, stepIndex, progress, end, ...nothing },
    events: events.slice(0, outcomes),
    following: events.slice(outcomes),
  };
}

/** Its value is that of another event, by a number that depends on the events before it. */
function refersToAnother({ value }: WrittenEvent): boolean {
  return typeof value === "object" && value !== null;
}
