// The parts of a bar in the chart over time.
import { expect, test } from "vitest";
import { barParts } from "./bar-parts.ts";

const point = { at: "2026-01-01T00:00:00Z", completed: 0, cancelled: 0, p50: null };

test("executions that did not fail are the rest, also those that waited meanwhile", () => {
  expect(barParts({ ...point, started: 10, failed: 2, suspended: 12 })).toEqual({
    whole: 10,
    fine: 8,
    bad: 2,
  });
});

test("the rest is never negative when failed executions had started before", () => {
  expect(barParts({ ...point, started: 1, failed: 4, suspended: 1 })).toEqual({ whole: 4, fine: 0, bad: 4 });
});
