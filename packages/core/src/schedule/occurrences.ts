// The nominal times of a schedule: they follow from its specification alone and strictly increase.
//
// A pattern whose hour field names all 24 hours follows elapsed time: every instant whose wall-clock time matches. Any other
// follows the wall clock, each of its times once: a time that a change of the zone leaves out is at the end of the gap,
// one that exists twice is at the first.
import { createHash } from "node:crypto";
import { type Cron, nextWall, parseCron } from "./cron.ts";
import { type Zone, zoneOf } from "./zone.ts";

/** When a schedule fires: by a cron expression in a time zone, or every so many milliseconds. */
export type Timing =
  | { readonly cron: string; readonly zone: string; readonly from: number | null; readonly to: number | null }
  | { readonly every: number; readonly from: number; readonly to: number | null };

/** A pattern as it is computed with. */
export interface Pattern {
  readonly follows: "elapsed time" | "wall clock";
  /** The first nominal time after an instant; undefined after the last. */
  next(after: number): number | undefined;
  /** The days on which the zone changes between two instants: its instant, and the minutes by which clocks move. */
  changes(after: number, until: number): readonly { readonly at: number; readonly minutes: number }[];
}

/** The patterns of the last timings: parsing costs more than the next time. */
const patterns = new Map<string, Pattern>();
const maxPatterns = 1000;

/** Throws a CronProblem, or a RangeError for a zone that `Intl` does not know. */
export function patternOf(timing: Timing): Pattern {
  const key = JSON.stringify(timing);
  const known = patterns.get(key);
  if (known !== undefined) return known;
  const made = "cron" in timing ? cronPattern(timing) : intervalPattern(timing);
  if (patterns.size >= maxPatterns) patterns.clear();
  patterns.set(key, made);
  return made;
}

function intervalPattern({ every, from, to }: Extract<Timing, { every: number }>): Pattern {
  return {
    follows: "elapsed time",
    next: (after) => bounded(from + Math.max(Math.floor((after - from) / every) + 1, 0) * every, to),
    changes: () => [],
  };
}

function cronPattern({ cron: text, zone: name, from, to }: Extract<Timing, { cron: string }>): Pattern {
  const cron = parseCron(text);
  const zone = zoneOf(name);
  if (zone === undefined) throw new RangeError(`"${name.slice(0, 50)}" is not a time zone`);
  const next = cron.everyHour ? nextElapsed : nextOnClock;
  return {
    follows: cron.everyHour ? "elapsed time" : "wall clock",
    next: (after) => bounded(next(cron, zone, Math.max(after, (from ?? after + 1) - 1)), to),
    changes: (after, until) =>
      zone.changes(after, until).map(({ at, offset }) => ({
        at,
        minutes: (offset - zone.offsetAt(at - 1)) / 60_000,
      })),
  };
}

function bounded(at: number | undefined, to: number | null): number | undefined {
  return at === undefined || (to !== null && at > to) ? undefined : at;
}

function nextElapsed(cron: Cron, zone: Zone, after: number): number | undefined {
  let from = after + 1;
  for (;;) {
    const offset = zone.offsetAt(from);
    const wall = nextWall(cron, from + offset);
    if (wall === undefined) return undefined;
    const at = wall - offset;
    // The wall clock is another one from the next change on.
    const [change] = zone.changes(from, at);
    if (change === undefined) return at;
    from = change.at;
  }
}

function nextOnClock(cron: Cron, zone: Zone, after: number): number | undefined {
  let wall = after + zone.offsetAt(after) + 1;
  for (;;) {
    const found = nextWall(cron, wall);
    if (found === undefined) return undefined;
    const { instant, isInGap } = zone.resolve(found);
    if (instant > after) return instant;
    // A time that exists twice was the first time; in a gap all times are at its end.
    wall = isInGap ? instant + zone.offsetAt(instant) : found + 1;
  }
}

/** Milliseconds by which a schedule is later than its nominal times: the same each time, and less than to the next one. */
export function jitterOf(scheduleId: string, jitter: number, gap: number): number {
  const bound = Math.min(jitter, gap);
  if (bound <= 0) return 0;
  return createHash("sha256").update(scheduleId).digest().readUIntBE(0, 6) % bound;
}
