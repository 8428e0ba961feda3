// The seed of a mutation run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chooseSeed } from "./seed.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "andante-seed-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a run without a seed has another one each time", () => {
  const seeds = new Set(Array.from({ length: 5 }, () => chooseSeed(folder, undefined, false)));
  expect(seeds.size).toBe(5);
});

test("a run that continues has the seed of the run before", () => {
  const first = chooseSeed(folder, undefined, false);
  expect(chooseSeed(folder, undefined, true)).toBe(first);
  expect(chooseSeed(folder, undefined, true)).toBe(first);
});

test("a given seed is used, and kept for the run that continues", () => {
  chooseSeed(folder, undefined, false);
  expect(chooseSeed(folder, "4711", true)).toBe(4711);
  expect(chooseSeed(folder, undefined, true)).toBe(4711);
});

test.each(["0", "1.5", "-1", "seed"])("the seed %s is refused and not kept", (given) => {
  const first = chooseSeed(folder, undefined, false);
  expect(() => chooseSeed(folder, given, false)).toThrow("whole number");
  expect(chooseSeed(folder, undefined, true)).toBe(first);
});
