// The time of a journal does not run backwards.
import { expect, test } from "vitest";
import { inTime } from "./in-time.ts";

const at = (...times: number[]) => times.map((timestamp) => ({ timestamp }));

test.each([
  ["nothing", []],
  ["the same time", [5, 5]],
  ["later times", [6, 7, 7]],
])("%s stays the same list", (_, times) => {
  const events = at(...times);
  expect(inTime(events, 5)).toBe(events);
});

test.each([
  [[4], [5]],
  [
    [7, 6, 8],
    [7, 7, 8],
  ],
  [
    [6, 4, 5],
    [6, 6, 6],
  ],
])("%j after 5 is %j, and an event that needs no change stays the same object", (times, moved) => {
  const events = at(...times);
  const result = inTime(events, 5);
  expect(result).toEqual(at(...moved));
  for (const [index, event] of events.entries())
    if (event.timestamp === moved[index]) expect(result[index]).toBe(event);
});
