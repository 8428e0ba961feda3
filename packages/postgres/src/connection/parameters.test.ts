// The text of arrays, and values that are too long.
import { expect, test } from "vitest";
import { inText } from "./parameters.ts";

test("arrays become the text that the database reads, other values stay single", () => {
  const values = [['a"b\\c', null, "", "NULL", "{,}"], [1, 2], [true], 7, null];
  expect(inText([["select", values]])).toEqual([
    ["select", [`{"a\\"b\\\\c",NULL,"","NULL","{,}"}`, '{"1","2"}', '{"true"}', "7", null]],
  ]);
});

test("text that is too long is rejected before anything is sent", () => {
  expect(() => inText([["select", [["abcdef"]]]], 9)).toThrow(RangeError);
  expect(inText([["select", [["abcdef"]]]], 10)).toHaveLength(1);
});
