// The view of a graph with a selected step: steps side by side are whole while they are legible.
import { expect, test } from "vitest";
import { legible, margin, viewOf } from "./view.ts";

const step = { id: "a", name: "a", type: "andThen", purpose: "" };
const at = (x: number, y: number, width = 148) => ({
  ...{ path: "a", step, parent: null, x, y, width, height: 46, isContainer: false },
});
const pane = { width: 230, height: 300 };

test("a graph that is wider than its pane is shown whole at a smaller scale", () => {
  const { x, zoom } = viewOf(at(69, 300, 200), 338, pane, 0.4);
  expect(x).toBeCloseTo(margin);
  expect(338 * zoom).toBeCloseTo(pane.width - 2 * margin);
});

test("a graph that would be too small to read begins at its left edge", () => {
  expect(viewOf(at(14, 300), 1000, pane, 0.2)).toMatchObject({ x: margin, zoom: legible });
});

test("a step beyond the right edge ends with the pane", () => {
  const { x, zoom } = viewOf(at(800, 300), 1000, pane, 0.2);
  expect(948 * zoom + x).toBeCloseTo(pane.width - margin);
});

test("a step that is wider than the pane is shown from its left edge", () => {
  const { x, zoom } = viewOf(at(100, 300, 800), 1000, pane, 0.2);
  expect(100 * zoom + x).toBeCloseTo(margin);
});

test("a narrow graph is in the middle of its pane, and keeps a larger scale", () => {
  const { x, y, zoom } = viewOf(at(0, 300), 148, pane, 1.2);
  expect(zoom).toBe(1.2);
  expect(74 * zoom + x).toBeCloseTo(pane.width / 2);
  expect(323 * zoom + y).toBeCloseTo(pane.height / 2);
});
