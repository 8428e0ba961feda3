// Rows that stay in place while a feed adds others.
import { expect, test } from "vitest";
import { rowForTest } from "../../api/row-for-test.ts";
import { heldRows } from "./held-rows.ts";

const rows = (...ids: string[]) => ids.map((id) => rowForTest(id));
const idsOf = ({ rows, waiting }: ReturnType<typeof heldRows>) => [
  rows.map(({ executionId }) => executionId).join(" "),
  waiting,
];

test("new rows wait above the held ones; older ones are loaded below", () => {
  expect(idsOf(heldRows(rows("c", "b"), rows("e", "d", "c", "b", "a")))).toEqual(["c b a", 2]);
});

test("a held row that is not in the list any more stays", () => {
  expect(idsOf(heldRows(rows("c", "b", "a"), rows("d", "c", "a")))).toEqual(["c b a", 1]);
  expect(idsOf(heldRows(rows("b", "a"), rows("d", "c")))).toEqual(["b a", 2]);
});

test("a held row has its current state", () => {
  const [now] = rows("a");
  const { rows: shown } = heldRows(rows("a"), now ? [{ ...now, status: "error" }] : []);
  expect(shown.map(({ status }) => status)).toEqual(["error"]);
});

test("without held rows the list is as it is", () => {
  expect(idsOf(heldRows(undefined, rows("b", "a")))).toEqual(["b a", 0]);
});
