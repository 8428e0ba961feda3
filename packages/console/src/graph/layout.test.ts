// The positions of steps: below each other, side by side, inside their containers, never overlapping.
import type { Step } from "@andante/client";
import { expect, test } from "vitest";
import { layOut, linesOf, type PlacedNode } from "./layout.ts";

const step = (id: string, type = "andThen", steps?: readonly Step[]): Step => ({
  id,
  name: id,
  type,
  purpose: "",
  ...(steps && { steps }),
});
const find = (nodes: readonly PlacedNode[], path: string) => {
  const node = nodes.find((each) => each.path === path);
  if (node === undefined) throw new Error(`no node ${path}`);
  return node;
};

test("steps are below each other, with an edge between each two", () => {
  const { nodes, edges } = layOut([step("a"), step("b"), step("c")]);
  expect(nodes.map(({ path }) => path)).toEqual(["a", "b", "c"]);
  expect(find(nodes, "b").y).toBeGreaterThan(find(nodes, "a").y + find(nodes, "a").height);
  expect(edges).toEqual([
    { from: "a", to: "b" },
    { from: "b", to: "c" },
  ]);
});

test("branches are side by side in their container, and edges lead to each and from each", () => {
  const { nodes, edges } = layOut([
    step("a"),
    step("check", "andAll", [step("facts"), step("tone")]),
    step("z"),
  ]);
  const [facts, tone] = [find(nodes, "check/facts"), find(nodes, "check/tone")];
  expect([facts.parent, tone.parent]).toEqual(["check", "check"]);
  expect(tone.x).toBeGreaterThanOrEqual(facts.x + facts.width);
  expect(find(nodes, "check").width).toBeGreaterThan(tone.x + tone.width);
  expect(edges.map(({ from, to }) => `${from}>${to}`)).toEqual([
    "a>check/facts",
    "a>check/tone",
    "check/facts>z",
    "check/tone>z",
  ]);
});

test("edges are drawn from the middle below a step to the middle above the next, also into containers", () => {
  const layout = layOut([step("a"), step("check", "andAll", [step("facts"), step("tone")])]);
  const [passed, ahead] = linesOf(layout, (path) => path === "a");
  const [a, check, facts] = [
    find(layout.nodes, "a"),
    find(layout.nodes, "check"),
    find(layout.nodes, "check/facts"),
  ];
  const [x, y] = [a.x + a.width / 2, a.y + a.height];
  const [endX, endY] = [check.x + facts.x + facts.width / 2, check.y + facts.y];
  expect(passed.split("M")[1]).toMatch(new RegExp(`^${x} ${y}C.* ${endX} ${endY}$`));
  expect(passed.split("M")).toHaveLength(3);
  expect(ahead).toBe("");
});

test("a large container is folded until it is opened", () => {
  const many = Array.from({ length: 20 }, (_, index) => step(`s${index}`));
  const steps = [step("all", "andAll", many)];
  expect(layOut(steps).nodes).toHaveLength(1);
  expect(layOut(steps, new Set(["all"])).nodes).toHaveLength(21);
});

test("two hundred steps in a row each have a place of their own", () => {
  const steps = Array.from({ length: 200 }, (_, index) => step(`s${index}`));
  const places = layOut(steps).nodes.map(({ x, y }) => `${x} ${y}`);
  expect(new Set(places).size).toBe(200);
});
