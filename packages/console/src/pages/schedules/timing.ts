// The words for a schedule: its times, the outcomes of its occurrences, and times in another zone.
import type { Schedule } from "@andante/client";
import { period } from "../../format/numbers.ts";
import type { Tone } from "../../format/status.ts";

export type Outcome = NonNullable<Schedule["last"]>["outcome"];

/** "30 2 * * * in Europe/Berlin", "every 10 min". */
export function timingWords({ cron, zone, every }: Pick<Schedule, "cron" | "zone" | "every">): string {
  if (cron === undefined) return `every ${every === undefined ? "?" : period(every)}`;
  return `${cron} in ${zone ?? "UTC"}`;
}

/** The options that say when, as a preview takes them. */
export function timingOf({ cron, zone, every, from, to }: Schedule) {
  return { cron, zone, every, from: from ?? undefined, to: to ?? undefined };
}

/** The time zone of the reader. */
export const readersZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const formats = new Map<string, Intl.DateTimeFormat>();

/** "Sun 28 Mar 2027, 03:00", with seconds where there are some. */
export function timeIn(zone: string, time: string): string {
  const hasSeconds = !/:00(\.000)?Z$/.test(time);
  const key = `${zone} ${hasSeconds}`;
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat("en-GB", {
      ...{ timeZone: zone, weekday: "short", day: "numeric", month: "short", year: "numeric" },
      ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
      ...(hasSeconds && { second: "2-digit" as const }),
    });
  formats.set(key, format);
  return format.format(new Date(time));
}

/** "put forward by 1 h", "put back by 30 min". */
export function shiftWords(minutes: number): string {
  return `put ${minutes > 0 ? "forward" : "back"} by ${period(Math.abs(minutes) * 60_000)}`;
}

const outcomes: Readonly<Record<Outcome, readonly [word: string, tone: Tone]>> = {
  started: ["started", "ok"],
  "by-hand": ["started by hand", "ok"],
  "already-started": ["had started", "off"],
  "skipped-overlap": ["skipped", "wait"],
  replaced: ["replaced", "off"],
  missed: ["missed", "bad"],
  refused: ["refused", "bad"],
  "invalid-input": ["input does not fit", "bad"],
};

export function outcomeWord(outcome: Outcome): string {
  return outcomes[outcome][0];
}

export function outcomeTone(outcome: Outcome): Tone {
  return outcomes[outcome][1];
}

/** An instant as a field for local time has it: 2027-03-28T03:00. */
export function localField(time: number): string {
  const offset = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offset).toISOString().slice(0, 16);
}
