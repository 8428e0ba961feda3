// Formatting of deadlines.
import { expect, test } from "vitest";
import { deadlineWords, dueText } from "./due.ts";

const deadline = new Date(100_000).toISOString();

test.each([
  [40_000, "in 1 min", "times out in 1 min"],
  [98_000, "now", "due now"],
  [101_000, "now", "due now"],
  [200_000, "overdue", "overdue"],
])("at %i it is due %s", (now, short, long) => {
  expect(dueText(deadline, now)).toBe(short);
  expect(deadlineWords(deadline, now)).toBe(long);
});
