// Work with a time limit: when it is done again, and when it is given up.
import { expect, test } from "vitest";
import { threadWorks } from "../../test/support/thread-works.ts";
import { isTimeout, maxTries, withinLimit } from "./within-limit.ts";

/** Goes on without end until it is done for the last time. */
function slowUntil(last: number) {
  const work = {
    runs: 0,
    run: () => {
      work.runs++;
      while (work.runs < last);
      return "done";
    },
  };
  return work;
}

/** The result of the work within five milliseconds for each try. */
function outcome(work: () => string): string {
  try {
    return withinLimit(work, 5);
  } catch (error) {
    return isTimeout(error) ? "given up" : String(error);
  }
}

test("work that throws is not done again", () => {
  let runs = 0;
  const work = () => {
    runs++;
    throw new TypeError("no");
  };
  expect(() => withinLimit(work, 1000)).toThrow("no");
  expect(runs).toBe(1);
});

test("work that got little of the processor is done again, and not more often than the tries", () => {
  threadWorks(1);
  // On a busy machine the time of a try may be over before the work begins.
  const repeated = slowUntil(2);
  expect(outcome(repeated.run)).toBe("done");
  expect(repeated.runs).toBe(2);
  const late = slowUntil(maxTries + 1);
  expect(outcome(late.run)).toBe("given up");
  expect(late.runs).toBeLessThanOrEqual(maxTries);
});

test("work that had the processor is not done again", () => {
  threadWorks(4);
  const work = slowUntil(2);
  expect(outcome(work.run)).toBe("given up");
  expect(work.runs).toBeLessThanOrEqual(1);
});
