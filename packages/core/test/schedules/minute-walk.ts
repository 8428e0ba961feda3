// The nominal times of patterns by a walk over the minutes: a second implementation, which formats instants and knows of no
// offsets, changes of clocks or next days.
const minute = 60_000;
const quarterHour = 15 * minute;

export const walkedPatterns = [
  "30 2 * * *",
  "0,30 2 * * *",
  "*/30 2 * * *",
  "30 1-3 * * *",
  "0 */2 * * *",
  "0 */6 * * *",
  "*/15 * * * *",
  "7 * * * *",
  "0 0 * * *",
  "59 23 L * *",
  "15 0,1,2,3 * * sun",
];

export const walkedZones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Havana",
  "America/Santiago",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Asia/Beirut",
  "Asia/Kolkata",
  "Asia/Gaza",
  "Australia/Lord_Howe",
  "Australia/Sydney",
  "Pacific/Chatham",
  "Pacific/Apia",
  "America/St_Johns",
];

/** The wall-clock time of an instant, as if it were UTC, by a formatter of its own. */
function wallReader(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  const wallAt = (instant: number) => Date.parse(`${format.format(instant).replace(" ", "T")}Z`);
  // Formatting each minute took most of the time. Where a quarter of an hour is as long on the wall, its minutes are too.
  let quarter = { start: Number.NaN, wall: 0, isWhole: false };
  return (instant) => {
    const start = instant - (instant % quarterHour);
    if (start !== quarter.start) {
      const wall = wallAt(start);
      quarter = { start, wall, isWhole: wallAt(start + quarterHour) - wall === quarterHour };
    }
    return quarter.isWhole ? quarter.wall + instant - start : wallAt(instant);
  };
}

/** Whether a pattern of numbers, lists, ranges, steps, `L` and `sun` has a wall-clock minute. */
function matcher(text: string): (wall: number) => boolean {
  const [minutes = "", hours = "", dates = "", , weekdays = ""] = text.split(" ");
  const [hasMinute, hasHour] = [valuesOf(minutes, 59), valuesOf(hours, 23)];
  return (wall) => {
    const at = new Date(wall);
    return (
      hasMinute.has(at.getUTCMinutes()) &&
      hasHour.has(at.getUTCHours()) &&
      (dates === "*" || new Date(wall + 86_400_000).getUTCDate() === 1) &&
      (weekdays === "*" || at.getUTCDay() === 0)
    );
  };
}

function valuesOf(field: string, last: number): ReadonlySet<number> {
  const isIn = (value: number) =>
    field.split(",").some((part) => {
      const [range = "", step = "1"] = part.split("/");
      const [low = 0, high = low] = range === "*" ? [0, last] : range.split("-").map(Number);
      return value >= low && value <= high && (value - low) % Number(step) === 0;
    });
  return new Set(Array.from({ length: last + 1 }, (_, value) => value).filter(isIn));
}

/** The times of each pattern after an instant and until another, both whole minutes. */
export function walkMinutes(
  zone: string,
  texts: readonly string[],
  from: number,
  to: number,
): ReadonlyMap<string, readonly number[]> {
  const wallAt = wallReader(zone);
  const walked = texts.map((text) => {
    return {
      text,
      follows: text.split(" ")[1] === "*" ? "instants" : "wall",
      has: matcher(text),
      times: [] as number[],
    };
  });
  // The day before: a wall-clock time that comes twice was there in it for the first time.
  let highest = wallAt(from - 1440 * minute);
  for (let at = from - 1439 * minute; at <= to; at += minute) {
    const wall = wallAt(at);
    for (const { follows, has, times } of walked) {
      if (follows === "instants") {
        if (at > from && has(wall)) times.push(at);
        continue;
      }
      // All wall-clock minutes that are reached here for the first time: one, those of a gap, or none.
      let isIn = false;
      for (let each = highest + minute; each <= wall && !isIn; each += minute) isIn = has(each);
      if (isIn && at > from) times.push(at);
    }
    highest = Math.max(highest, wall);
  }
  return new Map(walked.map(({ text, times }) => [text, times]));
}
