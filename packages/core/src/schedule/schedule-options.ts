// The options of a schedule, as hosts and callers give them, and the specification that is kept.
import { type Duration, parseDuration } from "../values/duration.ts";
import { CronProblem } from "./cron.ts";
import { patternOf, type Timing } from "./occurrences.ts";

/** The rule for an occurrence while an earlier execution of the schedule has not ended, suspended ones included. */
export const overlaps = ["skip", "queue-one", "queue", "cancel", "allow"] as const;
export type Overlap = (typeof overlaps)[number];

/** Which occurrences are made up that no process was there for. */
export const catchUps = ["latest", "all", "none"] as const;
export type CatchUp = (typeof catchUps)[number];

export interface ScheduleOptions {
  /** 5 fields, or 6 with seconds first; names, lists, ranges, steps, `L`, `W`, `#`, and `@daily` and the like. */
  readonly cron?: string | undefined;
  /** The time zone of `cron`, by its IANA name or as an offset. Default: UTC. */
  readonly zone?: string | undefined;
  /** In place of `cron`: so much time between two occurrences, at least 1 s. */
  readonly every?: Duration | undefined;
  /** No occurrence is before it; the times of `every` count from it. Default: none; for `every` 1 January 1970, 00:00 UTC. */
  readonly from?: Date | string | number | undefined;
  /** No occurrence is after it. Default: none. */
  readonly to?: Date | string | number | undefined;
  /** Each occurrence is later by the same part of it, which follows from the id of the schedule. Default: 0. */
  readonly jitter?: Duration | undefined;
  /** Default: `skip`. */
  readonly overlap?: Overlap | undefined;
  /** Default: `latest`. */
  readonly catchUp?: CatchUp | undefined;
  /** Occurrences that are older are not made up. Default: 7 d. */
  readonly window?: Duration | undefined;
  /** After so many failed executions in a row the schedule is paused. Default: it is not. */
  readonly pauseOnFailure?: number | undefined;
  /** Tags of its executions. Default: none. */
  readonly tags?: readonly string[] | undefined;
}

/** The options as they are kept. */
export interface ScheduleSpec {
  readonly timing: Timing;
  readonly jitter: number;
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
  readonly window: number;
  readonly pauseOnFailure: number | null;
  readonly tags: readonly string[];
}

/** Makes the error for an option with a problem. */
export type Refuse = (option: string, problem: string) => Error;

const minEvery = 1000;
const day = 86_400_000;

export function readScheduleOptions(options: ScheduleOptions, refuse: Refuse): ScheduleSpec {
  const milliseconds = (name: "every" | "jitter" | "window", otherwise: number) => {
    const given = options[name];
    if (given === undefined) return otherwise;
    try {
      return parseDuration(given, name);
    } catch {
      throw refuse(name, 'expected milliseconds or a string such as "10s" or "2h"');
    }
  };
  const { overlap = "skip", catchUp = "latest", pauseOnFailure, tags = [] } = options;
  if (!overlaps.includes(overlap)) throw refuse("overlap", `expected one of ${overlaps.join(", ")}`);
  if (!catchUps.includes(catchUp)) throw refuse("catchUp", `expected one of ${catchUps.join(", ")}`);
  if (pauseOnFailure !== undefined && !(Number.isSafeInteger(pauseOnFailure) && pauseOnFailure > 0))
    throw refuse("pauseOnFailure", "expected a whole number from 1 on");
  const timing = timingOf(options, milliseconds("every", 0), refuse);
  const jitter = milliseconds("jitter", 0);
  const window = milliseconds("window", 7 * day);
  return { timing, jitter, overlap, catchUp, window, pauseOnFailure: pauseOnFailure ?? null, tags };
}

function timingOf(options: ScheduleOptions, every: number, refuse: Refuse): Timing {
  const { cron, zone } = options;
  const from = timeOf("from", options, refuse);
  const to = timeOf("to", options, refuse);
  if ((cron === undefined) === (options.every === undefined))
    throw refuse(cron === undefined ? "cron" : "every", "expected either cron or every");
  if (cron === undefined) {
    if (zone !== undefined) throw refuse("zone", "every counts elapsed time, which no zone changes");
    if (every < minEvery) throw refuse("every", "expected at least 1 s");
    return { every, from: from ?? 0, to };
  }
  if (typeof cron !== "string") throw refuse("cron", "expected a string");
  if (zone !== undefined && typeof zone !== "string") throw refuse("zone", "expected a string");
  const timing = { cron, zone: zone ?? "UTC", from, to };
  try {
    patternOf(timing);
  } catch (error) {
    if (error instanceof CronProblem) throw refuse("cron", error.message);
    if (error instanceof RangeError) throw refuse("zone", error.message);
    throw error;
  }
  return timing;
}

function timeOf(name: "from" | "to", options: ScheduleOptions, refuse: Refuse): number | null {
  const given = options[name];
  if (given === undefined) return null;
  const time = typeof given === "number" ? given : new Date(given).getTime();
  // The years that every zone is computed for.
  if (Number.isSafeInteger(time) && time >= 0 && time < Date.UTC(2500, 0)) return time;
  throw refuse(name, "expected a date from 1970 to 2500");
}
