// Fields of a JSON object are read by their types; another type is an error of the caller's choice.
import { expect, test } from "vitest";
import { Fields, parseObject } from "./fields.ts";

const fail = (problem: string) => new RangeError(`row 7: ${problem}`);
const fields = new Fields({ name: "a", count: 0, isOpen: true, inner: { depth: 1 }, none: null }, fail);

test("fields are read by their types", () => {
  expect([fields.text("name"), fields.number("count"), fields.isTrue("isOpen")]).toEqual(["a", 0, true]);
  expect([fields.optionalText("count"), fields.optionalNumber("name")]).toEqual([undefined, undefined]);
  expect([fields.object("inner")?.number("depth"), fields.object("missing")]).toEqual([1, undefined]);
  expect(Fields.parse(null, fail).optionalText("name")).toBeUndefined();
});

test("another type is an error with the location", () => {
  expect(() => fields.text("count")).toThrow(new RangeError("row 7: the field count is not a text"));
  expect(() => fields.number("missing")).toThrow("row 7: the field missing is not a number");
  expect(() => fields.object("none")).toThrow("row 7: the field none: it is not a JSON object");
  expect(() => fields.object("inner")?.text("depth")).toThrow(
    "the field inner: the field depth is not a text",
  );
  expect(() => Fields.parse("{", fail)).toThrow("row 7: it is not JSON");
  expect(() => Fields.parse("[]", fail)).toThrow("row 7: it is not a JSON object");
});

test("a stored object is read whole; any other value is an error with its place", () => {
  expect(parseObject('{"a":[1]}', "The context of an execution")).toEqual({ a: [1] });
  for (const damaged of ["[]", "null", '"text"'])
    expect(() => parseObject(damaged, "The context of an execution")).toThrow(
      new TypeError("The context of an execution is not a JSON object"),
    );
});
