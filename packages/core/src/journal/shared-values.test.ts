import { expect, test } from "vitest";
import type { StoredEvent } from "../store/stored-event.ts";
import { SharedValues } from "./kept-values.ts";

const event = (sequence: number, value: string | null): StoredEvent => ({
  sequence,
  timestamp: 1,
  type: "step-complete",
  path: "a",
  stepIndex: 0,
  stepType: "andThen",
  value,
  detail: "{}",
});

test("a long value is counted once, and the events that have it stay as they are", () => {
  const shared = new SharedValues();
  const long = "x".repeat(1000);
  const events = [
    event(1, long),
    event(2, "y".repeat(500)),
    event(3, `${long}`),
    event(4, "short"),
    event(5, "short"),
    event(6, null),
  ];
  expect(events.map((each) => shared.share(each))).toEqual(events);
  expect(shared.length).toBe(1000 + 2 + 500 + 2 + 2 * 7 + 2);
});
