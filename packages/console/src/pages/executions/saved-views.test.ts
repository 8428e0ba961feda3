// Saved filters in stored text.
import { expect, test } from "vitest";
import { mostViews, viewsIn } from "./saved-views.ts";

test("a view has its name, known filters and its threshold; other values are left out", () => {
  const stored = [
    { name: "Failing", search: { status: "error", since: "1h", unknown: "x" }, above: 5 },
    { name: "All", search: {}, above: "5" },
    { search: {} },
    "text",
    null,
  ];
  expect(viewsIn(JSON.stringify(stored))).toEqual([
    { name: "Failing", search: { status: "error", since: "1h" }, above: 5 },
    { name: "All", search: {} },
  ]);
});

test("there are none in other text, and at most a few", () => {
  expect([viewsIn(null), viewsIn("{"), viewsIn("{}")]).toEqual([[], [], []]);
  const many = Array.from({ length: 20 }, (_, n) => ({ name: `${n}`, search: {} }));
  expect(viewsIn(JSON.stringify(many))).toHaveLength(mostViews);
});
