// The examples of RFC 7396, appendix A, whose targets are objects.
import { expect, test } from "vitest";
import { mergePatch } from "./merge-patch.ts";

test.each([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{ a: "foo" }, { a: { b: "c" } }, { a: { b: "c" } }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])("%o with %o is %o", (target, patch, expected) => {
  const before = JSON.stringify(target);
  expect(mergePatch(target, patch)).toEqual(expected);
  expect(JSON.stringify(target)).toBe(before);
});

test("a field with a name of the language is a field", () => {
  const merged = mergePatch({}, JSON.parse('{"__proto__":{"admin":true}}'));
  expect(JSON.stringify(merged)).toBe('{"__proto__":{"admin":true}}');
  expect(Object(merged).admin).toBeUndefined();
});
