import { expect, test } from "vitest";
import { preferredWait } from "./delivery.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["respond-async", 0],
  ["Respond-Async", 0],
  ["respond-async, wait=10", 10],
  ["wait=10, respond-async", 10],
  ["wait=10", 10],
  ["wait = 10", 10],
  ['wait="10"', 10],
  ["wait=0", 0],
  ["wait=5, wait=7", 5],
  ["return=minimal; respond-async", undefined],
  ["foo; wait=3, respond-async", 0],
  ["wait=3; foo=bar", 3],
  ["wait", undefined],
  ["wait=", undefined],
  ["wait=-1", undefined],
  ["wait=1.5", undefined],
  ["wait=1e3", undefined],
  ['wait="3', undefined],
  ["wait=9999999", undefined],
  ["respond-async=1", 0],
  ["await=5", undefined],
])("Prefer: %s", (header, seconds) => {
  expect(preferredWait(header)).toBe(seconds);
});
