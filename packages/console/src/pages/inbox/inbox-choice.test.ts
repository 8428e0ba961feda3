// Which open suspension the inbox shows.
import { expect, test } from "vitest";
import type { InboxItem } from "../../api/types.ts";
import { nextAfter, placeOf } from "./inbox-choice.ts";

const item = (suspensionId: string): InboxItem => ({
  ...{ executionId: "e", workflowId: "w", userId: null, startAt: "" },
  suspension: {
    ...{ suspensionId, suspendedAt: "", reason: "", suspendedStepIndex: 0, stepIndex: 0, stepId: "ask" },
  },
});
const [first, second, third] = [item("1"), item("2"), item("3")];

test("one that is gone is not replaced by another", () => {
  expect(placeOf([first, second], "2")).toBe(1);
  expect(placeOf([first, second], "3")).toBe(-1);
});

test("after an answer comes the next one, and after the last the one before it", () => {
  expect(nextAfter([first, second, third], second)).toBe(third);
  expect(nextAfter([first, second, third], third)).toBe(second);
  expect(nextAfter([first], first)).toBeUndefined();
  expect(nextAfter([second, third], first)).toBe(second);
});
