// Which tools hold something open: only those that can be retained and released.
import { expect, test } from "vitest";
import { isHeld } from "./callable-agent.ts";

const both = { retain: () => undefined, release: async () => undefined };

test("a function that can be retained and released", () => {
  expect(isHeld(Object.assign(() => ({}), both))).toBe(true);
});

test.each([
  ["a plain function", () => ({})],
  ["one that can only be retained", Object.assign(() => ({}), { retain: both.retain })],
  ["one that can only be released", Object.assign(() => ({}), { release: both.release })],
  ["a set of tools that are named so", both],
  ["nothing", undefined],
])("not %s", (_, tools) => {
  expect(isHeld(tools)).toBe(false);
});
