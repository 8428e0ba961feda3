// Paths by the containers around them.
import { expect, test } from "vitest";
import { isBelow } from "../../values/step-path.ts";
import { PathsBelow } from "./paths-below.ts";

const paths = [
  "a",
  "a/b",
  "a/bc",
  "a[0]/b",
  "a[1]/b/c#condition",
  "ab/c",
  "a/b[10]/c",
  "a/b[1]/c",
  "a#call[0].tool[1]",
];
const containers = ["a", "a/b", "a[0]", "a[1]/b", "ab", "a/b[1]", "none"];

test("finds the same paths as isBelow", () => {
  const below = new PathsBelow();
  for (const path of paths) below.add(path);
  for (const container of containers) {
    expect(below.of(container)).toEqual(paths.filter((path) => isBelow(path, container)));
  }
});

test("forgets deleted paths", () => {
  const below = new PathsBelow();
  for (const path of paths) below.add(path);
  for (const path of paths.slice(1)) below.delete(path);
  expect(containers.flatMap((container) => below.of(container))).toEqual([]);
});
