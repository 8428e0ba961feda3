// The nominal times of schedules, also on the days when clocks change, and against a walk over the minutes.
import { describe, expect, test } from "vitest";
import { walkedPatterns, walkedZones, walkMinutes } from "../../test/schedules/minute-walk.ts";
import { CronProblem, parseCron } from "./cron.ts";
import { lastTimes } from "./decide-occurrences.ts";
import { jitterOf, patternOf } from "./occurrences.ts";
import { executionIdOf } from "./schedule-record.ts";

function cron(text: string, zone = "UTC", from: number | null = null, to: number | null = null) {
  return patternOf({ cron: text, zone, from, to });
}

/** The first times after an instant. */
function times(pattern: ReturnType<typeof cron>, after: string, count: number): string[] {
  const found: string[] = [];
  for (
    let at = pattern.next(Date.parse(after));
    at !== undefined && found.length < count;
    at = pattern.next(at)
  )
    found.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
  return found;
}

describe("a change of clocks", () => {
  test.each([
    ["30 2 * * *", "Europe/Berlin", "2027-03-27T12:00Z", ["2027-03-28T01:00Z", "2027-03-29T00:30Z"]],
    ["30 2 * * *", "Europe/Berlin", "2027-10-30T12:00Z", ["2027-10-31T00:30Z", "2027-11-01T01:30Z"]],
    ["30 2,3 * * *", "Europe/Berlin", "2027-03-27T12:00Z", ["2027-03-28T01:00Z", "2027-03-28T01:30Z"]],
    ["*/30 2 * * *", "Europe/Berlin", "2027-03-27T12:00Z", ["2027-03-28T01:00Z", "2027-03-29T00:00Z"]],
    [
      "0,30 2 * * *",
      "Europe/Berlin",
      "2027-10-30T12:00Z",
      ["2027-10-31T00:00Z", "2027-10-31T00:30Z", "2027-11-01T01:00Z"],
    ],
    [
      "30 1-3 * * *",
      "Europe/Berlin",
      "2027-10-30T22:00Z",
      ["2027-10-30T23:30Z", "2027-10-31T00:30Z", "2027-10-31T02:30Z"],
    ],
    [
      "0 */2 * * *",
      "Europe/Berlin",
      "2027-03-27T22:00Z",
      ["2027-03-27T23:00Z", "2027-03-28T01:00Z", "2027-03-28T02:00Z"],
    ],
    ["0 0 * * *", "Africa/Cairo", "2027-04-29T12:00Z", ["2027-04-29T22:00Z", "2027-04-30T21:00Z"]],
    [
      "0 */6 * * *",
      "Africa/Cairo",
      "2027-04-29T15:00Z",
      ["2027-04-29T16:00Z", "2027-04-29T22:00Z", "2027-04-30T03:00Z"],
    ],
    ["45 1 * * *", "Australia/Lord_Howe", "2027-04-03T10:00Z", ["2027-04-03T14:45Z", "2027-04-04T15:15Z"]],
    ["15 2 * * *", "Australia/Lord_Howe", "2027-10-02T10:00Z", ["2027-10-02T15:30Z", "2027-10-03T15:15Z"]],
    // Samoa left out a whole day.
    ["0 12 * * *", "Pacific/Apia", "2011-12-29T23:00Z", ["2011-12-30T10:00Z", "2011-12-30T22:00Z"]],
  ])("%s in %s after %s", (text, zone, after, expected) => {
    expect(times(cron(text, zone), after, expected.length)).toEqual(expected);
  });

  test("a pattern of every hour follows elapsed time on both days", () => {
    const pattern = cron("*/15 * * * *", "Europe/Berlin");
    for (const [day, next, count] of [
      ["2027-03-27T23:00Z", "2027-03-28T22:00Z", 92],
      ["2027-10-30T22:00Z", "2027-10-31T23:00Z", 100],
    ] as const) {
      const from = Date.parse(day) - 1;
      const found = lastTimes(pattern, from, Date.parse(next) - 1, 1000);
      expect(found).toHaveLength(count);
      for (const [index, at] of found.entries())
        if (index > 0) expect(at - (found[index - 1] ?? 0)).toBe(900_000);
    }
  });
});

describe("expressions", () => {
  test.each([
    ["0 9 LW * *", "2027-01-01Z", ["2027-01-29T09:00Z", "2027-02-26T09:00Z", "2027-03-31T09:00Z"]],
    ["0 9 1W * *", "2027-04-30Z", ["2027-05-03T09:00Z", "2027-06-01T09:00Z"]],
    ["0 9 15w * *", "2027-05-01Z", ["2027-05-14T09:00Z", "2027-06-15T09:00Z"]],
    ["0 9 L-2 * *", "2027-02-01Z", ["2027-02-26T09:00Z", "2027-03-29T09:00Z"]],
    ["0 9 * * mon#1", "2027-01-01Z", ["2027-01-04T09:00Z", "2027-02-01T09:00Z"]],
    ["0 9 * * 5L", "2027-01-01Z", ["2027-01-29T09:00Z", "2027-02-26T09:00Z"]],
    ["0 9 * * fri-sun", "2027-01-01T10:00Z", ["2027-01-02T09:00Z", "2027-01-03T09:00Z", "2027-01-08T09:00Z"]],
    ["0 9 * * 7", "2027-01-01Z", ["2027-01-03T09:00Z", "2027-01-10T09:00Z"]],
    ["0 9 13 * 5", "2027-08-01Z", ["2027-08-06T09:00Z", "2027-08-13T09:00Z", "2027-08-20T09:00Z"]],
    ["0 9 13 * ?", "2027-08-01Z", ["2027-08-13T09:00Z", "2027-09-13T09:00Z"]],
    ["0 0 29 2 *", "2027-01-01Z", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
    ["0 0 29 2 *", "2096-03-01Z", ["2104-02-29T00:00Z"]],
    ["0 0 1 jan,JUL *", "2027-01-02Z", ["2027-07-01T00:00Z", "2028-01-01T00:00Z"]],
    ["10/25 8 * * *", "2027-01-01Z", ["2027-01-01T08:10Z", "2027-01-01T08:35Z", "2027-01-02T08:10Z"]],
    ["@daily", "2027-01-01Z", ["2027-01-02T00:00Z"]],
    ["30 0 12 * * *", "2027-01-01Z", ["2027-01-01T12:00:30.000Z"]],
  ])("%s after %s", (text, after, expected) => {
    expect(times(cron(text), after, expected.length)).toEqual(expected);
  });

  test.each([
    ["", /0 fields/],
    ["* * * *", /4 fields/],
    ["60 * * * *", /"minute".*0 to 59/],
    ["* 24 * * *", /"hour"/],
    ["* * 0 * *", /"day of month"/],
    ["* * * 13 *", /"month".*or a name/],
    ["* * * * 8", /"day of week"/],
    ["* * * * mon#6", /first to a fifth/],
    ["*/0 * * * *", /step/],
    ["5-1 * * * *", /ends before it begins/],
    ["1-2-3 * * * *", /two ends/],
    ["1/2/3 * * * *", /one step/],
    ["a * * * *", /"minute"/],
    ["0 0 30 2 *", /never fires/],
    ["0 0 L-31 * *", /30 days/],
    ["@sometimes", /1 fields/],
    [`${"1,".repeat(400)}1 * * * *`, /500 characters/],
  ])("%j is refused, with the field", (text, problem) => {
    expect(() => parseCron(text)).toThrow(problem);
    expect(() => parseCron(text)).toThrow(CronProblem);
  });

  test("bounds leave out what is before and after them", () => {
    const [from, to] = [Date.parse("2027-01-03T09:00Z"), Date.parse("2027-01-04T09:00Z")];
    expect(times(cron("0 9 * * *", "UTC", from, to), "2027-01-01Z", 5)).toEqual([
      "2027-01-03T09:00Z",
      "2027-01-04T09:00Z",
    ]);
  });

  test("a zone that does not exist is refused, an offset is not", () => {
    expect(() => cron("@daily", "Europe/Nowhere")).toThrow(RangeError);
    expect(times(cron("0 9 * * *", "+05:30"), "2027-01-01Z", 1)).toEqual(["2027-01-01T03:30Z"]);
  });
});

test("every counts elapsed time from its beginning", () => {
  const often = patternOf({ every: 600_000, from: 0, to: null });
  expect(times(often, "2027-03-28T00:59Z", 3)).toEqual([
    "2027-03-28T01:00Z",
    "2027-03-28T01:10Z",
    "2027-03-28T01:20Z",
  ]);
  const later = patternOf({ every: 600_000, from: Date.parse("2027-01-01T00:05Z"), to: null });
  expect(times(later, "2026-01-01Z", 2)).toEqual(["2027-01-01T00:05Z", "2027-01-01T00:15Z"]);
});

test("jitter spreads schedules, is less than the time to the next occurrence, and never changes", () => {
  const spread = Array.from({ length: 1000 }, (_, index) =>
    jitterOf(`schedule ${index}`, 300_000, 86_400_000),
  );
  const perSlot = Map.groupBy(spread, (each) => Math.floor(each / 10_000));
  expect(Math.max(...[...perSlot.values()].map((each) => each.length))).toBeLessThanOrEqual(60);
  expect(spread.every((each) => each >= 0 && each < 300_000)).toBe(true);
  expect(jitterOf("a", 300_000, 1000)).toBeLessThan(1000);
  expect(jitterOf("a", 300_000, 86_400_000)).toBe(jitterOf("a", 300_000, 86_400_000));
});

test("the last times of a pattern are found from the end", () => {
  const every = cron("* * * * * *");
  const until = Date.parse("2027-01-01T00:00:10Z");
  expect(lastTimes(every, Date.parse("2020-01-01Z"), until, 3).map((at) => until - at)).toEqual([
    2000, 1000, 0,
  ]);
  expect(lastTimes(cron("0 0 1 1 *"), Date.parse("2020-06-01Z"), until, 3)).toHaveLength(3);
  expect(lastTimes(every, until - 2000, until, 5)).toHaveLength(2);
});

test("the id of an execution has the nominal time in UTC", () => {
  expect(executionIdOf("a:b", Date.parse("2027-03-28T01:00:00Z"))).toBe("a:b@20270328T010000Z");
});

const minute = 60_000;

// `minute-walk.ci.test.ts` walks the whole of both years.
test.each(walkedZones)(
  "in %s the times around changes of clocks are those of a walk over the minutes",
  (zone) => {
    const [start, end] = [Date.UTC(2027, 0), Date.UTC(2029, 0)];
    const day = 1440 * minute;
    const around = cron("@daily", zone)
      .changes(start, end)
      .map(({ at }): [number, number] => [at - 1.5 * day, at + 1.5 * day]);
    for (const [from, to] of [[start + 58 * day, start + 61 * day] as const, ...around]) {
      const walked = walkMinutes(zone, walkedPatterns, from, to);
      for (const text of walkedPatterns) {
        const pattern = cron(text, zone);
        const found: number[] = [];
        for (let at = pattern.next(from); at !== undefined && at <= to; at = pattern.next(at)) found.push(at);
        expect(found, `${text} from ${new Date(from).toISOString()}`).toEqual(walked.get(text));
      }
    }
  },
);

test("the zone of the machine changes nothing", async () => {
  const before = process.env.TZ;
  const timesNow = () => [
    times(cron("30 2 * * *", "Europe/Berlin"), "2027-03-01Z", 40),
    times(cron("0 */5 * * *"), "2027-03-01Z", 40),
  ];
  const expected = timesNow();
  try {
    process.env.TZ = "Australia/Sydney";
    expect(new Date(0).getHours()).toBe(10);
    expect(timesNow()).toEqual(expected);
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});
