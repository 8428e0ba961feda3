// A column that differs from the schema is an error that names it.
import { expect, test } from "vitest";
import { integer, nullableInteger, nullableText, readUsage, status, text } from "./columns.ts";

const row = { name: "a", count: 0, none: null, status: "parked" };

test("columns are read by their type", () => {
  expect([text(row, "name"), integer(row, "count")]).toEqual(["a", 0]);
  expect([nullableText(row, "name"), nullableInteger(row, "count")]).toEqual(["a", 0]);
  expect([nullableText(row, "none"), nullableInteger(row, "none")]).toEqual([null, null]);
  for (const known of ["running", "suspended", "completed", "error", "cancelled"])
    expect(status({ status: known })).toBe(known);
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
  expect([readUsage(JSON.stringify(usage)), readUsage(null)]).toEqual([usage, null]);
  expect(() => readUsage('{"calls":1}')).toThrow("column usage: the field inputTokens is not a number");
});

test("another type is an error", () => {
  expect(() => text(row, "count")).toThrow("column count is not text");
  expect(() => nullableText(row, "count")).toThrow("column count is not text");
  expect(() => integer(row, "name")).toThrow("column name is not a number");
  expect(() => nullableInteger(row, "missing")).toThrow("column missing is not a number");
  expect(() => status(row)).toThrow("unknown status parked");
});
