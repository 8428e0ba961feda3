// Formats numbers, durations, times and ids.

const thin = "\u2009";

/** With a thin space between thousands: 18 204. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, thin);
}

/** Short: 88 k, 1.2 M. */
export function shortCount(value: number): string {
  if (value < 10_000) return count(value);
  if (value < 1_000_000) return `${Math.round(value / 1000)} k`;
  return `${(value / 1_000_000).toFixed(1)} M`;
}

/** Money in the currency of the server's prices: 1 204.50, 0.0031. */
export function amount(value: number): string {
  const [whole = "0", part = ""] = value.toFixed(Math.abs(value) >= 1 || value === 0 ? 2 : 4).split(".");
  return `${whole.replace(/\B(?=(\d{3})+(?!\d))/g, thin)}.${part}`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 ** 2) return `${Math.round(value / 1024)} KB`;
  if (value < 1024 ** 3) return `${Math.round(value / 1024 ** 2)} MB`;
  return `${(value / 1024 ** 3).toFixed(1)} GB`;
}

/** 9 ms, 6.1 s, 1 min 04 s, 2 h 14 min, 3 d 4 h. */
export function duration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A length that was chosen, not measured: "7 d", "24 h", "1 h 30 min". */
export function period(milliseconds: number): string {
  return duration(milliseconds)
    .replace(/^(\d+)\.0 s$/, "$1 s")
    .replace(/^(\d+ \w+) 0+ \w+$/, "$1");
}

/** An age without "ago": "now", "4 min", "2 h 14 min". */
export function age(milliseconds: number): string {
  if (milliseconds < 5000) return "now";
  if (milliseconds < 60_000) return `${Math.floor(milliseconds / 1000)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 60) return `${minutes} min`;
  return duration(milliseconds);
}

/** 09:52:11, with the day when it is not today. */
export function clock(time: string | number, now: number = Date.now()): string {
  const date = new Date(time);
  const hours = timeOfDay(date);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? hours : `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${hours}`;
}

/** 09:14:02.118 */
export function preciseClock(time: string | number): string {
  const date = new Date(time);
  return `${timeOfDay(date)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** 16/11/2026, 09:14:02, for tooltips. */
export function exactTime(time: string | number): string {
  return exact.format(new Date(time));
}

// Created once: a list formats times for each visible row.
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "short", timeStyle: "medium" });

function timeOfDay(date: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The part of a long id that is enough to recognise it. */
export function shortId(id: string): string {
  if (id.length <= 16) return id;
  // The beginning of an id that was given, such as `order:evt_1`, is that of many others.
  return /^[0-9a-f-]+$/.test(id) ? id.slice(0, 13) : `${id.slice(0, 4)}…${id.slice(-8)}`;
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A part of a whole in percent, at most 100; two decimals below 1. */
export function share(part: number, whole: number): string {
  const percent = Math.min(100, (100 * part) / Math.max(1, whole));
  return `${percent.toFixed(percent < 1 ? 2 : 0)} %`;
}
