// Decides which occurrences of a schedule start now: overlap, catch-up, the queue. Pure, from the record and the time to the next
// record, the occurrences that are decided, and at most one start.
import { type Pattern, patternOf } from "./occurrences.ts";
import {
  executionIdOf,
  firesAt,
  maxRunning,
  maxWaiting,
  type Occurrence,
  type OccurrenceOutcome,
  type ScheduleRecord,
} from "./schedule-record.ts";

export interface Look {
  readonly now: number;
  /** The executions that have not ended, of those that the record names. */
  readonly open: readonly string[];
  /** Executions of this schedule that were there before the occurrence that is to start them. */
  readonly taken: ReadonlySet<string>;
}

export interface OccurrenceStart {
  readonly at: number;
  readonly executionId: string;
}

export interface ScheduleStep {
  readonly record: ScheduleRecord;
  readonly occurrences: readonly Occurrence[];
  readonly start: OccurrenceStart | null;
  /** Executions to cancel before it. */
  readonly cancel: readonly string[];
}

/** Milliseconds after its time until which an occurrence is not one that was missed. */
const grace = 60_000;
/** An occurrence is late from so many milliseconds on. */
const lateFrom = 1000;
/** Times that are counted when they are missed. */
const maxCounted = 10_000;

export function decideOccurrences(scheduleId: string, before: ScheduleRecord, look: Look): ScheduleStep {
  const { now, open, taken } = look;
  const occurrences: Occurrence[] = [];
  const note = (at: number, outcome: OccurrenceOutcome, fields: Partial<Occurrence> = {}) => {
    const behind = now - firesAt(scheduleId, before, at);
    const late = behind < lateFrom ? 0 : behind;
    occurrences.push({ at, outcome, executionId: null, decidedAt: now, late, count: 1, ...fields });
  };
  const isActive = before.state === "active";
  const due = isActive ? dueTimes(scheduleId, before, now) : { times: [], missed: 0, last: undefined };
  let { waiting, skipped, missed, started, running, lastAt, lastExecutionId } = { ...before, running: open };
  let cancel: readonly string[] = [];
  let start: number | undefined;
  if (due.missed > 0 && due.last !== undefined) {
    missed += due.missed;
    note(due.last, "missed", { count: due.missed });
  }
  const [only] = due.times;
  if (due.times.length > 1) {
    const all = [...waiting, ...due.times];
    waiting = all.slice(-maxWaiting);
    const left = all.slice(0, -maxWaiting);
    const last = left.at(-1);
    missed += left.length;
    if (last !== undefined) note(last, "missed", { count: left.length });
  } else if (only !== undefined) {
    const isBusy = open.length > 0 || waiting.length > 0;
    if (!isBusy || before.overlap === "allow") start = only;
    else if (before.overlap === "skip") {
      skipped += 1;
      note(only, "skipped-overlap", { executionId: open[0] ?? null });
    } else if (before.overlap === "queue") {
      if (waiting.length < maxWaiting) waiting = [...waiting, only];
      else {
        skipped += 1;
        note(only, "refused");
      }
    } else {
      skipped += waiting.length;
      for (const at of waiting) note(at, "replaced");
      waiting = [];
      if (before.overlap === "cancel") [start, cancel] = [only, open];
      else waiting = [only];
    }
  }
  const drains = before.state !== "removed" && before.state !== "broken";
  for (;;) {
    if (start === undefined && waiting.length > 0 && open.length === 0 && drains)
      [start, ...waiting] = waiting;
    if (start === undefined || !taken.has(executionIdOf(scheduleId, start))) break;
    note(start, "already-started", { executionId: executionIdOf(scheduleId, start) });
    start = undefined;
  }
  const cursorAt = due.cursorAt ?? before.cursorAt;
  let made: OccurrenceStart | null = null;
  if (start !== undefined) {
    made = { at: start, executionId: executionIdOf(scheduleId, start) };
    note(start, "started", { executionId: made.executionId });
    started += 1;
    lastAt = start;
    lastExecutionId = made.executionId;
    running = [...running.filter((id) => !cancel.includes(id)), made.executionId].slice(-maxRunning);
  }
  const counts = { waiting, skipped, missed, started, running, lastAt, lastExecutionId, cursorAt };
  return { record: { ...before, ...counts }, occurrences, start: made, cancel };
}

/** The same step with another id for its execution. */
export function withExecutionId(step: ScheduleStep, executionId: string): ScheduleStep {
  const { record, occurrences, start } = step;
  if (start === null) return step;
  return {
    ...step,
    start: { ...start, executionId },
    record: {
      ...record,
      running: record.running.map((id) => (id === start.executionId ? executionId : id)),
      lastExecutionId: executionId,
    },
    occurrences: occurrences.map((each) => (each.outcome === "started" ? { ...each, executionId } : each)),
  };
}

/** The same step when its input does not fit the workflow: nothing starts, and the tenth time in a row breaks the schedule. */
export function withInvalidInput(step: ScheduleStep, before: ScheduleRecord, problem: string): ScheduleStep {
  const invalid = before.invalid + 1;
  const isBroken = invalid >= 10;
  const fields = { invalid, note: problem, ...(isBroken && { state: "broken" as const }) };
  return withoutStart(step, before, "invalid-input", fields);
}

/** The same step when the conversation does not take the prompt. */
export function withRefused(step: ScheduleStep, before: ScheduleRecord, problem: string): ScheduleStep {
  return withoutStart(step, before, "refused", { skipped: before.skipped + 1, note: problem });
}

function withoutStart(
  { record, occurrences, start }: ScheduleStep,
  before: ScheduleRecord,
  outcome: OccurrenceOutcome,
  fields: Partial<ScheduleRecord>,
): ScheduleStep {
  const { started, lastAt, lastExecutionId } = before;
  const running = record.running.filter((id) => id !== start?.executionId);
  return {
    record: { ...record, started, lastAt, lastExecutionId, running, ...fields },
    occurrences: occurrences.map((each) =>
      each.outcome === "started" ? { ...each, outcome, executionId: null } : each,
    ),
    start: null,
    cancel: [],
  };
}

/**
 * The same step with its start among the times that wait: a prompt is posted after this write and before the next, so that
 * a process that ends in between leaves a time that is posted again, with the same id.
 */
export function withStartWaiting(step: ScheduleStep, before: ScheduleRecord): ScheduleStep {
  const { record, occurrences, start } = step;
  const { started, lastAt, lastExecutionId, running } = before;
  const waiting = [...record.waiting, ...(start === null ? [] : [start.at])].sort((a, b) => a - b);
  return {
    record: { ...record, started, lastAt, lastExecutionId, running, waiting },
    occurrences: occurrences.filter(({ outcome }) => outcome !== "started"),
    start: null,
    cancel: [],
  };
}

/** The same step of an agent: the message is in this conversation, and nothing of it runs. */
export function inConversation(step: ScheduleStep, conversationId: string): ScheduleStep {
  const { record, occurrences, start } = step;
  return {
    ...step,
    record: { ...record, running: [] },
    occurrences: occurrences.map((each) =>
      each.executionId === start?.executionId ? { ...each, conversationId } : each,
    ),
  };
}

interface DueTimes {
  /** Those to start, oldest first. */
  readonly times: readonly number[];
  readonly missed: number;
  /** The last of those that are missed. */
  readonly last: number | undefined;
  readonly cursorAt?: number | undefined;
}

function dueTimes(scheduleId: string, record: ScheduleRecord, now: number): DueTimes {
  const { timing, catchUp, window, cursorAt } = record;
  const pattern = patternOf(timing);
  const all = lastTimes(pattern, cursorAt, now, maxWaiting + 1).filter(
    (at) => firesAt(scheduleId, record, at) <= now,
  );
  const last = all.at(-1);
  if (last === undefined) return { times: [], missed: 0, last: undefined };
  const isPunctual = (at: number) => now - firesAt(scheduleId, record, at) <= grace;
  const isRecent = (at: number) => isPunctual(at) || at >= now - window;
  const kept = {
    all: all.filter(isRecent).slice(-maxWaiting),
    latest: isRecent(last) ? [last] : [],
    none: isPunctual(last) ? [last] : [],
  }[catchUp];
  const missedUntil = (kept[0] ?? last + 1) - 1;
  const missed = countTimes(pattern, cursorAt, missedUntil);
  const [lastMissed] = missed === 0 ? [] : lastTimes(pattern, cursorAt, missedUntil, 1);
  return { times: kept, missed, last: lastMissed, cursorAt: last };
}

/** The last times after one instant and until another, oldest first: found from the end, however many there are. */
export function lastTimes(pattern: Pattern, after: number, until: number, max: number): readonly number[] {
  for (let back = 1000; ; back *= 4) {
    const from = Math.max(after, until - back);
    const times: number[] = [];
    for (let at = pattern.next(from); at !== undefined && at <= until; at = pattern.next(at)) {
      times.push(at);
      if (times.length > max) times.shift();
    }
    if (times.length === max || from === after) return times;
  }
}

/** How many times there are, counted no further than `maxCounted`. */
function countTimes(pattern: Pattern, after: number, until: number): number {
  let count = 0;
  for (let at = pattern.next(after); at !== undefined && at <= until && count < maxCounted; count++)
    at = pattern.next(at);
  return count;
}
