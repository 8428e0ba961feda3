// The selected rows of the list.
import { expect, test } from "vitest";
import type { ExecutionSummary } from "../../api/types.ts";
import { asTheyStand, selectionOf } from "./selection.ts";

const row = (
  executionId: string,
  status: ExecutionSummary["status"],
  stepIndex: number,
): ExecutionSummary => ({
  ...{
    executionId,
    workflowId: "w",
    userId: null,
    conversationId: null,
    startAt: "",
    endAt: null,
    stepIndex,
    status,
  },
});

test("a selected row is the one of the list, as far as it is still there", () => {
  const selection = selectionOf([row("1", "running", 0), row("2", "running", 0)]);
  const now = [row("3", "running", 0), row("1", "error", 2)];
  expect(asTheyStand(selection, now)).toEqual([row("1", "error", 2), row("2", "running", 0)]);
  expect(asTheyStand(selectionOf([]), now)).toEqual([]);
});
