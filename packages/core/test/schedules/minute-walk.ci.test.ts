// The nominal times of two whole years equal a walk over all their minutes; the tests of occurrences walk the days around changes
// of clocks.
import { expect, test } from "vitest";
import { patternOf } from "../../src/schedule/occurrences.ts";
import { walkedPatterns, walkedZones, walkMinutes } from "./minute-walk.ts";

const [from, to] = [Date.UTC(2027, 0), Date.UTC(2029, 0)];

test.each(walkedZones)(
  "in %s the times of 2027 and 2028 are those of a walk",
  { timeout: 600_000 },
  (zone) => {
    const walked = walkMinutes(zone, walkedPatterns, from, to);
    for (const text of walkedPatterns) {
      const pattern = patternOf({ cron: text, zone, from: null, to: null });
      const found: number[] = [];
      for (let at = pattern.next(from); at !== undefined && at <= to; at = pattern.next(at)) found.push(at);
      expect(found, text).toEqual(walked.get(text));
    }
  },
);
