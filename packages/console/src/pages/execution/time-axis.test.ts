// The time axis: waits are short on it, the times of steps are in proportion.
import { expect, test } from "vitest";
import type { ExecutionEvent } from "../../api/types.ts";
import { foldRun } from "../../run/run-history.ts";
import { timeAxis } from "./time-axis.ts";

const hour = 3_600_000;

function event(type: string, at: number, stepPath: string, stepType = "andThen"): ExecutionEvent {
  return { type, executionId: "e", timestamp: new Date(at).toISOString(), stepPath, stepType, stepIndex: 0 };
}

test("a wait of an hour between two steps of 100 ms takes a small part of the axis", () => {
  const run = foldRun([
    event("step-start", 0, "both", "andAll"),
    event("step-start", 0, "both/a"),
    event("step-complete", 100, "both/a"),
    event("step-start", 100, "both/nap", "andSleep"),
    event("step-complete", hour, "both/nap", "andSleep"),
    event("step-start", hour, "both/b"),
    event("step-complete", hour + 100, "both/b"),
    event("step-complete", hour + 100, "both", "andAll"),
  ]);
  const axis = timeAxis(run, hour + 100);
  expect(axis.active).toBe(200);
  expect(axis.place(100)).toBeGreaterThan(40);
  expect(axis.place(hour) - axis.place(100)).toBeLessThan(10);
  expect(axis.place(hour + 100) - axis.place(hour)).toBeCloseTo(axis.place(100), 5);
  expect(axis.place(2 * hour)).toBeLessThan(100);
});

test("a step that runs extends to the shown time, and a run without any time has an axis", () => {
  const run = foldRun([event("step-start", 0, "a")]);
  expect(timeAxis(run, 500).active).toBe(500);
  expect(timeAxis(foldRun([]), 0).place(5)).toBe(0);
});
