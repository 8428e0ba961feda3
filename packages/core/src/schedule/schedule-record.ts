// A schedule as it is kept, its occurrences, and the ids of its executions.
import { jitterOf, patternOf } from "./occurrences.ts";
import type { ScheduleSpec } from "./schedule-options.ts";

/**
 * `removed`: it was declared in code, and the set of schedules that counts has it no more. `broken`: its input did not fit the
 * workflow ten times in a row.
 */
export type ScheduleState = "active" | "paused" | "removed" | "broken";

/** The body of a row. */
export interface ScheduleRecord extends ScheduleSpec {
  readonly origin: "code" | "api";
  /** For one of a caller, JSON, of an agent the prompt; null for none, and for one that is declared in code. */
  readonly input: string | null;
  /** The conversation of an agent's prompts, where a caller has chosen it. */
  readonly conversationId: string | null;
  /** A JSON object. */
  readonly context: string;
  readonly revision: number;
  readonly state: ScheduleState;
  /** Why it is in this state. */
  readonly note: string | null;
  /** The user who has paused it; null where it is not paused, or by no known user. */
  readonly pausedBy: string | null;
  /** The hash of the set that declares it; null for one of a caller. */
  readonly set: string | null;
  /** Nominal times up to this one are decided. Of one that is removed: since when it is. */
  readonly cursorAt: number;
  /** Executions that had not ended when it was last looked at: the newest. None for an agent. */
  readonly running: readonly string[];
  /** Nominal times that wait for the end of those; of an agent, those whose prompts are to be posted. */
  readonly waiting: readonly number[];
  /** The newest occurrence that was decided. */
  readonly last: Pick<Occurrence, "at" | "outcome" | "late"> | null;
  readonly lastAt: number | null;
  readonly lastExecutionId: string | null;
  readonly started: number;
  readonly skipped: number;
  readonly missed: number;
  /** Occurrences in a row whose input did not fit. */
  readonly invalid: number;
  /** Executions in a row that have failed. */
  readonly failed: number;
}

/**
 * `replaced`: a newer one waits in its place. `refused`: too many wait. `already-started`: its execution was there before.
 * `by-hand`: started by a person.
 */
export type OccurrenceOutcome =
  | "started"
  | "skipped-overlap"
  | "missed"
  | "replaced"
  | "invalid-input"
  | "refused"
  | "already-started"
  | "by-hand";

/** An occurrence that was decided; `count` times up to `at` for one that represents several. */
export interface Occurrence {
  /** Its nominal time. */
  readonly at: number;
  readonly outcome: OccurrenceOutcome;
  /** For an agent the id of the message. */
  readonly executionId: string | null;
  /** The conversation of the message. */
  readonly conversationId?: string | undefined;
  readonly decidedAt: number;
  /** Milliseconds after its time, jitter included; 0 for less than a second. */
  readonly late: number;
  readonly count: number;
}

/** Occurrences that a schedule keeps. */
export const keptOccurrences = 100;

/** Executions of a schedule that it remembers as running, and nominal times that wait. */
export const maxRunning = 100;
export const maxWaiting = 100;

/** Milliseconds for which a schedule stays in lists that the code has no more: 30 days. */
const removedFor = 2_592_000_000;

/** Milliseconds after which a schedule with times that wait is looked at in any case. */
export const longestWait = 60_000;

/** The id of the execution of an occurrence. */
export function executionIdOf(scheduleId: string, at: number): string {
  return `${scheduleId}@${new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:]/g, "")}`;
}

/** When an occurrence fires: later than its time by the schedule's jitter. */
export function firesAt(scheduleId: string, { timing, jitter }: ScheduleSpec, at: number): number {
  if (jitter === 0) return at;
  const next = patternOf(timing).next(at);
  return at + jitterOf(scheduleId, jitter, next === undefined ? jitter : next - at);
}

/** When a schedule has to be looked at; null for never. */
export function dueAtOf(scheduleId: string, record: ScheduleRecord, now: number): number | null {
  const { state, waiting, running, timing, cursorAt } = record;
  if (state === "broken") return null;
  if (state === "removed") return cursorAt + removedFor;
  if (waiting.length > 0 && running.length === 0) return now;
  const next = state === "paused" ? undefined : patternOf(timing).next(cursorAt);
  const times = next === undefined ? [] : [firesAt(scheduleId, record, next)];
  // The end of the running execution starts the next. An end just before this record did not find it.
  if (waiting.length > 0) times.push(now + longestWait);
  return times.length === 0 ? null : Math.min(...times);
}

/** Whether the end of an execution that starts now changes the schedule: another occurrence starts, or failures are counted. */
export function awaitsEnd({ overlap, pauseOnFailure, waiting }: ScheduleRecord): boolean {
  return overlap === "queue" || overlap === "queue-one" || pauseOnFailure !== null || waiting.length > 0;
}

export function readRecord(body: string): ScheduleRecord {
  const record: ScheduleRecord = JSON.parse(body);
  return record;
}

export function readOccurrences(text: string): readonly Occurrence[] {
  const occurrences: readonly Occurrence[] = JSON.parse(text);
  return occurrences;
}

/** With newer ones, as far as they are kept: the newest last. */
export function withOccurrences(text: string, made: readonly Occurrence[]): string {
  return made.length === 0
    ? text
    : JSON.stringify([...readOccurrences(text), ...made].slice(-keptOccurrences));
}
