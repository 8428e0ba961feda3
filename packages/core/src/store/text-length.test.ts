// The bounds of a page: the strings of its rows, and the number of rows.
import { expect, test } from "vitest";
import { readPage } from "./sql/read-page.ts";
import { cutPage, maxPageLength, textLength } from "./text-length.ts";

test("the strings of a row count, however deep, and nothing else", () => {
  expect(textLength({ a: "abc", n: 5, nothing: null, none: undefined, list: ["de", { f: "f" }] })).toBe(6);
});

test("a page has at most its limit, and names its last row when others may follow", () => {
  const rows = [{ a: "xx" }, { a: "yy" }, { a: "zz" }];
  const [first, second, third] = rows;
  expect(cutPage(rows, 2, 100)).toEqual({ page: [first, second], more: second });
  expect(cutPage(rows, 3, 100)).toEqual({ page: rows, more: undefined });
  // Long enough to have ended early.
  expect(cutPage(rows, 3, 6)).toEqual({ page: rows, more: third });
  expect(cutPage(rows, 3, 7)).toEqual({ page: rows, more: undefined });
  expect(cutPage([], 3, 7)).toEqual({ page: [], more: undefined });
});

test("rows are read until they are long enough, the first in any case, and no further", () => {
  let read = 0;
  const rows = function* () {
    for (const a of ["xx", "yy", "zz"]) {
      read++;
      yield a;
    }
  };
  const page = (length?: number, lengthOf?: () => number) => {
    read = 0;
    return [readPage(rows(), (a) => ({ a }), length, lengthOf).length, read];
  };
  expect(page(1)).toEqual([1, 1]);
  expect(page(2)).toEqual([1, 1]);
  expect(page(3)).toEqual([2, 2]);
  expect(page()).toEqual([3, 3]);
  expect(page(Number.MAX_SAFE_INTEGER, () => maxPageLength / 2)).toEqual([2, 2]);
});
