import { expect, test } from "vitest";
import { maxSequences, shapeOf } from "./json-shape.ts";

test.each([
  ["objects", "{}", 80],
  ["lists of lists", "[[]]", 100],
  ["numbers", "1", 8],
  ["texts", JSON.stringify("x".repeat(1000)), 1000],
])("the memory of parsed %s is not estimated too low", (_, element, bytes) => {
  const count = 1000;
  const json = Buffer.from(`[${Array(count).fill(element).join()}]`);
  expect(shapeOf(json, 10).size).toBeGreaterThan(bytes * count);
  expect(shapeOf(json, 10).size).toBeLessThan(30 * bytes * count);
});

const fieldsOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]));
const names = (count: number, prefix = "field") => Array.from({ length: count }, (_, n) => `${prefix} ${n}`);

test.each<[string, unknown, number]>([
  ["no object", [1, "a", ["b"]], 0],
  ["one object", fieldsOf(names(500)), 500],
  ["rows of a table", Array(2000).fill({ a: 1, b: { c: 2 } }), 3],
  ["objects with fields of their own", names(300).map((name) => ({ [name]: 1, a: 2 })), 600],
  [
    "the same fields in two orders",
    [
      { a: 1, b: 2, c: 3 },
      { a: 1, c: 3, b: 2 },
    ],
    5,
  ],
  [
    "fields that follow an inner object",
    [
      { a: { x: 1 }, b: 2 },
      { a: { x: 1, y: 2 }, b: 2 },
    ],
    4,
  ],
  ["texts that look like fields", ['{"a":1,"b":2}', "\\", '\\"', ":::"], 0],
  ["names that look like fields", { '"a":{': 1, "}\\": 2, ":": 3 }, 3],
])("the sequences of fields are counted in %s", (_, value, count) => {
  const json = Buffer.from(JSON.stringify(value));
  expect(shapeOf(json, count).problem).toBeUndefined();
  if (count > 0) expect(shapeOf(json, count - 1).problem).toBe("sequences");
});

test("a text that does not end is counted as far as it goes", () => {
  expect(shapeOf(Buffer.from('{"a":1,"b":1,"c":"'), 2).problem).toBe("sequences");
  expect(shapeOf(Buffer.from('{"a":"\\'), 1).problem).toBeUndefined();
  expect(shapeOf(Buffer.from("}}}]"), 0).problem).toBeUndefined();
});

test("lists and objects may be nested 10 000 times", () => {
  const nested = (depth: number) => Buffer.from(`${'[{"a":'.repeat(depth / 2)}1${"}]".repeat(depth / 2)}`);
  expect(shapeOf(nested(10_000), 1).problem).toBeUndefined();
  expect(shapeOf(nested(10_002), 1).problem).toBe("depth");
  expect(shapeOf(Buffer.from(`[${"[],{},".repeat(20_000)}]`), 1).problem).toBeUndefined();
});

test("of 40 000 names that differ in a few letters hardly any have equal hashes", () => {
  const count = 40_000;
  const names = Array.from({ length: count }, (_, n) => {
    const bits = Array.from({ length: 16 }, (_, bit) => ((n >> bit) & 1 ? "pq" : "ab"));
    return bits.join("");
  });
  expect(shapeOf(Buffer.from(JSON.stringify(names.map((name) => ({ [name]: 1 })))), count - 10).problem).toBe(
    "sequences",
  );
});

test("there is a sequence for each 80 bytes", () => {
  expect(maxSequences(4 * 1024 * 1024)).toBe(52_428);
});
