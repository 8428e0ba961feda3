// The selected rows of the list.
import { expect, test } from "vitest";
import { rowForTest } from "../../api/row-for-test.ts";
import type { ExecutionSummary } from "../../api/types.ts";
import { asTheyStand, selectionOf, withRange } from "./selection.ts";

const row = (executionId: string, status: ExecutionSummary["status"], stepIndex = 0) =>
  rowForTest(executionId, { status, stepIndex });

test("a selected row is the one of the list, as far as it is still there", () => {
  const selection = selectionOf([row("1", "running"), row("2", "running")]);
  const now = [row("3", "running"), row("1", "error", 2)];
  expect(asTheyStand(selection, now)).toEqual([row("1", "error", 2), row("2", "running")]);
  expect(asTheyStand(selectionOf([]), now)).toEqual([]);
});

test("a range is selected in both directions, and unselected from a selected row", () => {
  const rows = ["1", "2", "3", "4"].map((id) => row(id, "running"));
  const idsOf = (selection: ReadonlyMap<string, unknown>) => [...selection.keys()].sort().join(" ");
  const some = withRange(selectionOf([]), rows, "3", "2");
  expect(idsOf(some)).toBe("2 3");
  expect(idsOf(withRange(some, rows, "1", "4"))).toBe("1 2 3 4");
  expect(idsOf(withRange(some, rows, "1", "2"))).toBe("3");
  expect(idsOf(withRange(some, rows, "gone", "4"))).toBe("2 3 4");
});
