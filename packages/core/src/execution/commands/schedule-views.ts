// Schedules as callers see them: times as ISO texts.
import { patternOf, type Timing } from "../../schedule/occurrences.ts";
import type { CatchUp, Overlap } from "../../schedule/schedule-options.ts";
import type {
  Occurrence,
  OccurrenceOutcome,
  ScheduleRecord,
  ScheduleState,
} from "../../schedule/schedule-record.ts";
import type { ScheduleRow } from "../../store/schedule-store.ts";
import { isoTime } from "../../values/iso-time.ts";

export interface Schedule {
  readonly scheduleId: string;
  /** The workflow whose executions it starts; null for an agent. */
  readonly workflowId: string | null;
  /** The agent that its prompts go to; null for a workflow. */
  readonly agentId: string | null;
  /** The user its executions, or the conversation, belong to. */
  readonly userId: string | null;
  /** Where it is declared. */
  readonly origin: "code" | "api";
  readonly state: ScheduleState;
  /** Why it is in this state. */
  readonly note: string | null;
  /** The user who has paused it; null where it is not paused, or by no known user. */
  readonly pausedBy: string | null;
  readonly cron?: string;
  readonly zone?: string;
  /** Milliseconds. */
  readonly every?: number;
  readonly from: string | null;
  readonly to: string | null;
  /** Milliseconds. */
  readonly jitter: number;
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
  /** Milliseconds. */
  readonly window: number;
  readonly pauseOnFailure: number | null;
  readonly tags: readonly string[];
  /** The input of its executions; null for none, and for one that is declared in code. */
  readonly input: unknown;
  /** The prompt for an agent; null for a workflow, and for one that is declared in code. */
  readonly prompt: string | null;
  /** The conversation that a caller has chosen for an agent; null for others. */
  readonly conversationId: string | null;
  readonly revision: number;
  /** Its next nominal time; null where it has none, or does not fire. */
  readonly nextAt: string | null;
  /** The newest occurrence that was decided. `late`: milliseconds, 0 for less than a second. */
  readonly last: Pick<OccurrenceView, "at" | "outcome" | "late"> | null;
  /** The nominal time of the last occurrence that started. */
  readonly lastAt: string | null;
  /** For an agent the id of the last message. */
  readonly lastExecutionId: string | null;
  readonly started: number;
  readonly skipped: number;
  readonly missed: number;
  /** Nominal times that wait for the end of an execution, or for the conversation. */
  readonly waiting: number;
}

export interface OccurrenceView {
  /** Its nominal time. */
  readonly at: string;
  readonly outcome: OccurrenceOutcome;
  /** For an agent the id of the message. */
  readonly executionId: string | null;
  /** The conversation of the message; null for a workflow. */
  readonly conversationId: string | null;
  readonly decidedAt: string;
  /** Milliseconds after its time; 0 for less than a second. */
  readonly late: number;
  /** How many times it represents, the last of which is `at`. */
  readonly count: number;
}

export interface SchedulePreview {
  /** The next nominal times. */
  readonly times: readonly string[];
  /** Whether the times follow elapsed time or the wall clock when the clocks of the zone change. */
  readonly follows: "elapsed time" | "wall clock";
  /** The next two changes of the zone's clocks, and the times within a day of each. */
  readonly changes: readonly {
    readonly at: string;
    /** Minutes by which clocks are put forward; below 0 back. */
    readonly minutes: number;
    readonly times: readonly string[];
  }[];
}

export function viewSchedule(row: ScheduleRow, record: ScheduleRecord): Schedule {
  const { scheduleId, agentId, userId } = row;
  const {
    origin,
    state,
    note,
    pausedBy,
    conversationId,
    timing,
    jitter,
    overlap,
    catchUp,
    window,
    pauseOnFailure,
    tags,
  } = record;
  const { revision, started, skipped, missed, waiting, lastAt, lastExecutionId, input, cursorAt } = record;
  const next = state === "active" ? patternOf(timing).next(cursorAt) : undefined;
  return {
    ...{ scheduleId, workflowId: agentId === null ? row.workflowId : null, agentId, userId },
    ...{ origin, state, note, pausedBy },
    ...("cron" in timing ? { cron: timing.cron, zone: timing.zone } : { every: timing.every }),
    from: optionalTime(timing.from),
    to: optionalTime(timing.to),
    ...{ jitter, overlap, catchUp, window, pauseOnFailure, tags },
    input: input === null || agentId !== null ? null : JSON.parse(input),
    prompt: agentId === null ? null : textIn(input),
    conversationId,
    revision,
    nextAt: next === undefined ? null : isoTime(next),
    last: record.last && { ...record.last, at: isoTime(record.last.at) },
    lastAt: optionalTime(lastAt),
    ...{ lastExecutionId, started, skipped, missed },
    waiting: waiting.length,
  };
}

export function viewOccurrence(occurrence: Occurrence): OccurrenceView {
  const { at, decidedAt, conversationId = null } = occurrence;
  return { ...occurrence, conversationId, at: isoTime(at), decidedAt: isoTime(decidedAt) };
}

const day = 86_400_000;
/** Milliseconds after the first time within which further ones are looked for: 50 years. */
const previewed = 50 * 365.25 * day;
/** Days in which changes of a zone are looked for, and times that are listed beside each. */
const changeDays = 500;
const timesBeside = 100;

export function previewOf(timing: Timing, now: number, count: number): SchedulePreview {
  const pattern = patternOf(timing);
  const timesFrom = (after: number, until: number, most: number) => {
    const found: string[] = [];
    for (
      let at = pattern.next(after);
      at !== undefined && at <= until && found.length < most;
      at = pattern.next(at)
    )
      found.push(isoTime(at));
    return found;
  };
  const first = pattern.next(now);
  return {
    times: first === undefined ? [] : timesFrom(now, first + previewed, count),
    follows: pattern.follows,
    changes: pattern
      .changes(now, now + changeDays * day)
      .slice(0, 2)
      .map(({ at, minutes }) => ({
        at: isoTime(at),
        minutes,
        times: timesFrom(at - day / 2, at + day / 2, timesBeside),
      })),
  };
}

function textIn(json: string | null): string | null {
  const value: unknown = json === null ? null : JSON.parse(json);
  return typeof value === "string" ? value : null;
}

function optionalTime(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
