// The words for schedules.
import { expect, test } from "vitest";
import { outcomeTone, outcomeWord, shiftWords, timeIn, timingWords } from "./timing.ts";

test("a schedule is a pattern in its zone, or a period", () => {
  expect(timingWords({ cron: "30 2 * * *", zone: "Europe/Berlin" })).toBe("30 2 * * * in Europe/Berlin");
  expect(timingWords({ every: 600_000 })).toBe("every 10 min");
});

test("a time is that of the clocks of its zone, with seconds where there are some", () => {
  expect(timeIn("Europe/Berlin", "2027-03-28T01:00:00.000Z")).toMatch(/Sun,? 28 Mar 2027,? (at )?03:00$/);
  expect(timeIn("UTC", "2027-03-28T01:00:05.000Z")).toMatch(/01:00:05$/);
});

test("a change of clocks and an outcome have words", () => {
  expect([shiftWords(60), shiftWords(-30)]).toEqual(["put forward by 1 h", "put back by 30 min"]);
  expect([outcomeWord("skipped-overlap"), outcomeTone("missed")]).toEqual(["skipped", "bad"]);
});
