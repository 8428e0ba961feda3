// Waits in groups of the same event and key.
import { expect, test } from "vitest";
import { waitGroups } from "./wait-groups.ts";

function waiting(executionId: string, minute: number, events: readonly (readonly [string, string | null])[]) {
  const at = { suspensionId: executionId, suspendedStepIndex: 0, stepIndex: 0, stepId: "wait", reason: "" };
  const suspendedAt = `2026-11-18T09:0${minute}:00.000Z`;
  const suspension = { ...at, suspendedAt, events: events.map(([name, key]) => ({ name, key })) };
  return { executionId, workflowId: "order", agentId: null, suspension };
}

test("the largest group is first, a wait for several events is in each, and a key differs from any key", () => {
  const groups = waitGroups([
    waiting("one", 1, [["paid", "17"]]),
    waiting("two", 2, [["paid", null]]),
    waiting("three", 3, [
      ["paid", "17"],
      ["withdrawn", "17"],
    ]),
  ]);
  expect(groups.map(({ name, key, executionIds }) => [name, key, executionIds])).toEqual([
    ["paid", "17", ["one", "three"]],
    ["paid", null, ["two"]],
    ["withdrawn", "17", ["three"]],
  ]);
  expect(groups[0]).toMatchObject({ since: "2026-11-18T09:01:00.000Z", workflowIds: ["order"] });
});
