// A value that JSON cannot hold is an error that names it and its place.
import { describe, expect, test } from "vitest";
import { canonicalJson, fromJson, isWiderThan, toJson } from "./json.ts";

const cycle: Record<string, unknown> = { list: [] };
cycle.list = [{ again: cycle }];
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let n = 0; n < depth; n++) value = [value];
  return value;
};
const thrower = {
  get field(): unknown {
    throw new Error("not now");
  },
};
const unconvertible = {
  toJSON() {
    throw new Error("cannot");
  },
};

describe("toJson", () => {
  test.each<[string, unknown, string]>([
    ["NaN", { a: [1, Number.NaN] }, "Output at a[1] cannot be kept as JSON: it is NaN"],
    ["Infinity", { a: -Infinity }, "Output at a cannot be kept as JSON: it is -Infinity"],
    ["a bigint", { deep: { a: 1n } }, "Output at deep.a cannot be kept as JSON: it is a bigint"],
    ["a map", { a: new Map() }, "Output at a cannot be kept as JSON: it is a Map"],
    ["a set", [new Set()], "Output at [0] cannot be kept as JSON: it is a Set"],
    ["a function", { a: () => 1 }, "Output at a cannot be kept as JSON: it is a function"],
    ["a symbol", Symbol("s"), "Output cannot be kept as JSON: it is a symbol"],
    ["a cycle", cycle, "Output at list[0].again cannot be kept as JSON: it contains itself"],
    ["a promise", { a: Promise.resolve(1) }, "it is a Promise (is an await missing?)"],
    [
      "an invalid date",
      { at: new Date("never") },
      "Output at at cannot be kept as JSON: it is an invalid Date",
    ],
    ["deep nesting", nested(600), "cannot be kept as JSON: it is nested too deeply"],
    [
      "a throwing toJSON",
      { a: unconvertible },
      "Output at a cannot be kept as JSON: its toJSON failed: cannot",
    ],
    [
      "a throwing getter",
      [thrower],
      "Output at [0].field cannot be kept as JSON: reading it failed: not now",
    ],
    ["a toJSON that gives NaN", { toJSON: () => ({ n: Number.NaN }) }, "Output at n cannot be kept as JSON"],
    ["a toJSON that gives a bigint", { toJSON: () => 1n }, "it is a bigint"],
    ["a regular expression", { a: /x/ }, "Output at a cannot be kept as JSON: it is a RegExp"],
    ["an error", { error: new TypeError("t") }, "Output at error cannot be kept as JSON: it is a TypeError"],
    ["bytes", { a: new Uint8Array(2) }, "Output at a cannot be kept as JSON: it is a Uint8Array"],
    ["a boxed number", { a: Object(Number.NaN) }, "Output at a cannot be kept as JSON: it is a Number"],
  ])("refuses %s", (_, value, message) => {
    expect(() => toJson(value, "Output")).toThrow(message);
  });

  test("keeps values that JSON can hold", () => {
    class Point {
      readonly x = 1;
    }
    const shared = { s: 1 };
    const value = { at: new Date(0), none: undefined, nil: null, point: new Point(), list: [shared, shared] };
    expect(fromJson(toJson(value, "Output"))).toEqual({
      at: "1970-01-01T00:00:00.000Z",
      nil: null,
      point: { x: 1 },
      list: [{ s: 1 }, { s: 1 }],
    });
    expect(fromJson(toJson(nested(400), "Output"))).toEqual(nested(400));
    expect(fromJson(toJson(new URL("http://a.b/c"), "Output"))).toBe("http://a.b/c");
    expect(fromJson(toJson(Object.create(null), "Output"))).toEqual({});
  });

  test("keeps no value apart from null", () => {
    expect(toJson(undefined, "Output")).toBeUndefined();
    expect(toJson(null, "Output")).toBe("null");
  });

  test("keeps a key named __proto__ as an ordinary key", () => {
    const value: unknown = JSON.parse('{"__proto__":{"admin":true},"a":1}');
    const text = toJson(value, "Output");
    expect(text).toBe('{"__proto__":{"admin":true},"a":1}');
    expect(Object(fromJson(text)).admin).toBeUndefined();
    expect(canonicalJson(text)).toBe('{"__proto__":{"admin":true},"a":1}');
  });

  test("keeps odd texts", () => {
    const odd = "\u0000\ud800 😀\u2028";
    expect(fromJson(toJson({ [odd]: odd }, "Output"))).toEqual({ [odd]: odd });
  });
});

test("canonicalJson is the same for any order of keys, and differs where values differ", () => {
  expect(canonicalJson('{"b":[{"d":1,"c":2}],"a":null}')).toBe(
    canonicalJson('{"a":null,"b":[{"c":2,"d":1}]}'),
  );
  expect(canonicalJson('{"a":[1,2]}')).not.toBe(canonicalJson('{"a":[2,1]}'));
  expect(canonicalJson(undefined)).not.toBe(canonicalJson("null"));
});

test("the place of a value that JSON cannot hold is bounded", () => {
  const key = "k".repeat(100_000);
  expect(() => toJson({ [key]: [{ a: 1n }] }, "Output")).toThrow(
    /^Output at k{300}… cannot be kept as JSON: it is/,
  );
  expect(() => toJson({ "[x": { "": 1n } }, "Output")).toThrow("Output at [x. cannot be kept");
});

describe("isWiderThan", () => {
  test.each([[{}], [{ a: 1 }], [{ a: 1, b: [2, { c: 3 }, []] }], [[1, 2, 3]], [{ a: undefined, b: null }]])(
    "%j is not wider than its text",
    (value) => {
      const { length } = JSON.stringify(value);
      expect(isWiderThan(value, length)).toBe(false);
      expect(isWiderThan({ a: value, b: value }, length)).toBe(true);
    },
  );

  test.each([
    ["at the top", 0],
    ["inside", 3],
  ])("the fields are read up to the bound: %s", (_, depth) => {
    let read = 0;
    let value: unknown = Object.defineProperties(
      {},
      Object.fromEntries(
        Array.from({ length: 10_000 }, (_, n) => [`k${n}`, { enumerable: true, get: () => ++read }]),
      ),
    );
    for (let n = 0; n < depth; n++) value = { a: [value] };
    expect(isWiderThan(value, 600)).toBe(true);
    expect(read).toBeLessThan(100);
  });

  test("a value that cannot be written is left to `toJson`", () => {
    for (const value of [cycle, nested(600), thrower]) expect(isWiderThan(value, 10_000)).toBe(false);
  });
});
