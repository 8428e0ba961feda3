// The filter of events.
import { expect, test } from "vitest";
import type { ExecutionEvent } from "../../api/types.ts";
import { matchingEvents, neighbour } from "./shown-events.ts";

const event = (type: string, fields: Partial<ExecutionEvent>): ExecutionEvent => ({
  ...{ type, executionId: "ord_1", timestamp: "2026-11-18T09:00:00.000Z" },
  ...fields,
});
const events = [
  event("workflow-start", {}),
  event("step-start", { stepPath: "charge", input: { order: "ORD_8813" } }),
  event("step-complete", { stepPath: "charge" }),
  event("step-start", { stepPath: "send", input: { order: "ord_2" } }),
];

test("events are found by type, path and values in any case, not by the execution's id", () => {
  expect(matchingEvents(events, " ")).toBeUndefined();
  expect(matchingEvents(events, "ord_8813")).toEqual([1]);
  expect(matchingEvents(events, "STEP-START")).toEqual([1, 3]);
  expect(matchingEvents(events, "charge")).toEqual([1, 2]);
  expect(matchingEvents(events, "ord_1")).toEqual([]);
});

test("moves go from one shown event to the next and stay at the ends", () => {
  const total = events.length;
  expect(neighbour(undefined, { position: 4, total, by: 1 })).toBe(3);
  expect(neighbour(undefined, { position: 4, total, by: -1 })).toBe(2);
  expect(neighbour([1, 3], { position: 4, total, by: -1 })).toBe(1);
  expect(neighbour([1, 3], { position: 2, total, by: 1 })).toBe(3);
  expect(neighbour([1, 3], { position: 4, total, by: 1 })).toBe(3);
});
