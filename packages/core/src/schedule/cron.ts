// Cron expressions: 5 fields, or 6 with seconds first, names, lists, ranges, steps, `L`, `W`, `#` and `@daily`. The parser gives
// the fields as sets, and `nextWall` walks the wall clock.

/** One parsed expression. The times are those of a wall clock, as if they were UTC. */
export interface Cron {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: ReadonlySet<number>;
  /** Whether the pattern has this day: of the month, of the week from Sunday on, in a month with this last day. */
  hasDay(date: number, weekday: number, lastDate: number): boolean;
  /** Its hour field names all 24: it follows elapsed time, any other follows the wall clock. */
  readonly everyHour: boolean;
}

const day = 86_400_000;

const macros: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

const monthNames = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const dayNames = "sun mon tue wed thu fri sat".split(" ");

interface Field {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly names?: readonly string[];
}

const fields = {
  second: { name: "second", low: 0, high: 59 },
  minute: { name: "minute", low: 0, high: 59 },
  hour: { name: "hour", low: 0, high: 23 },
  date: { name: "day of month", low: 1, high: 31 },
  month: { name: "month", low: 1, high: 12, names: monthNames },
  weekday: { name: "day of week", low: 0, high: 7, names: dayNames },
} as const satisfies Record<string, Field>;

/** A problem with an expression; the message names the field. */
export class CronProblem extends Error {}

function fail(field: Field, text: string, reason: string): never {
  throw new CronProblem(`the field "${field.name}" has "${text.slice(0, 50)}": ${reason}`);
}

/** Longer expressions are refused. */
const maxLength = 500;

/** Throws a CronProblem. */
export function parseCron(expression: string): Cron {
  if (expression.length > maxLength)
    throw new CronProblem(`an expression has at most ${maxLength} characters`);
  const text = expression.trim();
  const parts = (macros.get(text.toLowerCase()) ?? text).toLowerCase().split(/\s+/);
  if (parts.length === 5) parts.unshift("0");
  const [second, minute, hour, date, month, weekday] = parts;
  if (parts.length !== 6 || weekday === undefined)
    throw new CronProblem(
      `"${text.slice(0, 50)}" has ${text === "" ? 0 : text.split(/\s+/).length} fields: expected 5, or 6 with seconds first`,
    );
  const hours = numbers(fields.hour, hour ?? "");
  const cron: Cron = {
    seconds: sorted(numbers(fields.second, second ?? "")),
    minutes: sorted(numbers(fields.minute, minute ?? "")),
    hours: sorted(hours),
    months: numbers(fields.month, month ?? ""),
    hasDay: dayRule(date ?? "", weekday),
    everyHour: hours.size === 24,
  };
  // 40 years: a 29th of February falls on each weekday, also around 2100.
  if (nextWall(cron, Date.UTC(2024, 0, 1), 40) === undefined)
    throw new CronProblem(`"${text}" never fires: the field "day of month" has no such day`);
  return cron;
}

function sorted(set: ReadonlySet<number>): readonly number[] {
  return [...set].sort((a, b) => a - b);
}

function numbers(field: Field, text: string): ReadonlySet<number> {
  const found = new Set<number>();
  for (const part of text.split(",")) addRange(field, part, found);
  return found;
}

function addRange(field: Field, part: string, found: Set<number>): void {
  const { low, high } = field;
  const [range = "", step, ...rest] = part.split("/");
  if (rest.length > 0) fail(field, part, "a part has at most one step");
  const by = step === undefined ? 1 : wholeNumber(step);
  if (by === undefined || by < 1) fail(field, part, "a step is a whole number from 1 on");
  // A day of the week has 0 and 7 for Sunday: all of them are 0 to 6.
  const last = field === fields.weekday ? 6 : high;
  let [from, to] = [low, last];
  if (range !== "*" && range !== "?") {
    const [start = "", end, ...more] = range.split("-");
    if (more.length > 0) fail(field, part, "a range has two ends");
    from = numberIn(field, start, part);
    if (end !== undefined) to = numberIn(field, end, part);
    else to = step === undefined ? from : last;
    if (field === fields.weekday && end !== undefined && to === 0 && from > 0) to = 7;
  }
  if (from > to) fail(field, part, "the range ends before it begins");
  for (let value = from; value <= to; value += by) found.add(field === fields.weekday ? value % 7 : value);
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,4}$/.test(text) ? Number(text) : undefined;
}

function numberIn({ names = [], ...field }: Field, text: string, part: string): number {
  const named = names.indexOf(text);
  const value = named >= 0 ? named + field.low : wholeNumber(text);
  if (value === undefined || value < field.low || value > field.high) {
    const orName = names.length === 0 ? "" : " or a name";
    return fail(field, part, `expected a number from ${field.low} to ${field.high}${orName}`);
  }
  return value;
}

type DayTest = Cron["hasDay"];

/** A day that both fields name, where one of them is "*"; a day that one of them names, where both are restricted. */
function dayRule(dates: string, weekdays: string): DayTest {
  const isAny = (text: string) => text === "*" || text === "?";
  const byDate = anyOf(dates.split(",").map(dateTest));
  const byWeekday = anyOf(weekdays.split(",").map(weekdayTest));
  const both = !isAny(dates) && !isAny(weekdays);
  return (...day) => (both ? byDate(...day) || byWeekday(...day) : byDate(...day) && byWeekday(...day));
}

function anyOf(tests: readonly DayTest[]): DayTest {
  return (...given) => tests.some((test) => test(...given));
}

function dateTest(part: string): DayTest {
  const field = fields.date;
  const [, back = "0"] = /^l(?:-(\d{1,2}))?$/.exec(part) ?? [];
  if (/^l(-\d{1,2})?$/.test(part)) {
    if (Number(back) > 30) fail(field, part, "at most 30 days before the last");
    return (date, _weekday, lastDate) => date === lastDate - Number(back);
  }
  const [, near] = /^(l|\d{1,2})w$/.exec(part) ?? [];
  if (near !== undefined) {
    const wanted = near === "l" ? undefined : numberIn(field, near, part);
    return (date, weekday, lastDate) => date === nearestWorkday(wanted, date, weekday, lastDate);
  }
  const found = new Set<number>();
  addRange(field, part, found);
  return (date) => found.has(date);
}

/** The Monday to Friday that is nearest to a date and in the same month; undefined where the month has no such date. */
function nearestWorkday(
  wanted: number | undefined,
  date: number,
  weekday: number,
  lastDate: number,
): number | undefined {
  const target = wanted ?? lastDate;
  if (target > lastDate) return undefined;
  const its = (((weekday + target - date) % 7) + 7) % 7;
  if (its === 6) return target === 1 ? 3 : target - 1;
  if (its === 0) return target === lastDate ? target - 2 : target + 1;
  return target;
}

function weekdayTest(part: string): DayTest {
  const field = fields.weekday;
  const [, of = "", number] = /^(\w+)#(\d)$/.exec(part) ?? [];
  if (number !== undefined) {
    const wanted = numberIn(field, of, part) % 7;
    if (Number(number) < 1 || Number(number) > 5) fail(field, part, "a month has a first to a fifth");
    return (date, weekday) => weekday === wanted && Math.ceil(date / 7) === Number(number);
  }
  const [, last] = /^(\d|[a-z]{3})l$/.exec(part) ?? [];
  if (last !== undefined) {
    const wanted = numberIn(field, last, part) % 7;
    return (date, weekday, lastDate) => weekday === wanted && date > lastDate - 7;
  }
  const found = new Set<number>();
  addRange(field, part, found);
  return (_date, weekday) => found.has(weekday);
}

/** The first time of the pattern that is not before `wall`; undefined where none is within so many years. */
export function nextWall(cron: Cron, wall: number, years = 50): number | undefined {
  const from = Math.ceil(wall / 1000) * 1000;
  const start = Math.floor(from / day) * day;
  const date = new Date(start);
  let [year, month, number] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  const first = timeOfDay(cron, from - start);
  const earliest = timeOfDay(cron, 0);
  if (earliest === undefined) return undefined;
  // Where nothing is left of the first day, it begins with the next one.
  if (first === undefined) number += 1;
  for (const lastYear = year + years; year <= lastYear; ) {
    if (cron.months.has(month)) {
      const begin = Date.UTC(year, month - 1, 1);
      const lastDate = (Date.UTC(year, month, 1) - begin) / day;
      // 1970 began on a Thursday.
      const weekday = begin / day + 3;
      for (; number <= lastDate; number++)
        if (cron.hasDay(number, (((weekday + number) % 7) + 7) % 7, lastDate)) {
          const at = begin + (number - 1) * day;
          return at + (at === start ? (first ?? 0) : earliest);
        }
    }
    number = 1;
    month = month === 12 ? 1 : month + 1;
    if (month === 1) year += 1;
  }
  return undefined;
}

/** The first time of the pattern in a day that is not before this one; undefined where none is left. */
function timeOfDay({ hours, minutes, seconds }: Cron, from: number): number | undefined {
  const total = Math.floor(from / 1000);
  const [hour, minute, second] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  const [firstHour, firstMinute = 0, firstSecond = 0] = [hours[0], minutes[0], seconds[0]];
  if (firstHour === undefined) return undefined;
  const at = (h: number, m: number, s: number) => (h * 3600 + m * 60 + s) * 1000;
  if (hours.includes(hour)) {
    const later = seconds.find((each) => each >= second);
    if (minutes.includes(minute) && later !== undefined) return at(hour, minute, later);
    const laterMinute = minutes.find((each) => each > minute);
    if (laterMinute !== undefined) return at(hour, laterMinute, firstSecond);
  }
  const laterHour = hours.find((each) => each > hour);
  return laterHour === undefined ? undefined : at(laterHour, firstMinute, firstSecond);
}
