// Deadlines, in the future and in the past.
import { expect, test } from "vitest";
import { deadlineWords, dueText } from "./due.ts";

const now = Date.parse("2026-11-16T09:00:00Z");
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();

test.each([
  [90, "in 1 min", "times out in 1 min"],
  [3, "now", "times out now"],
  [-3, "now", "times out now"],
  [-60, "overdue", "overdue"],
])("%i seconds from now: %s", (seconds, due, words) => {
  expect(dueText(at(seconds), now)).toBe(due);
  expect(deadlineWords({ deadline: at(seconds) }, now)).toBe(words);
});

test.each([
  ["fail", "fails in 1 min"],
  ["cancel", "is cancelled in 1 min"],
  [{ resume: { approved: false } }, "answers “no” in 1 min"],
  [{ resume: { approved: false, note: "no answer came" } }, "answers “no” in 1 min"],
  [{ resume: true }, "answers “yes” in 1 min"],
  [{ resume: "too late" }, "answers “too late” in 1 min"],
  [{ resume: { choice: "post", note: "late" } }, "answers “post · late” in 1 min"],
  [{ resume: null }, "answers “nothing” in 1 min"],
] as const)("the effect of a deadline: %o → %s", (onDeadline, words) => {
  expect(deadlineWords({ deadline: at(90), onDeadline }, now)).toBe(words);
});
