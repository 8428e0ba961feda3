// A value as one line: truncation is marked, and no character changes the text direction.
import { expect, test } from "vitest";
import { inlineJson, inlineWords } from "./inline-json.ts";

test("a cut value ends with an ellipsis, wherever it is cut", () => {
  const value = { to: "x".repeat(5000) };
  expect(inlineJson(value, 4000)).toMatch(/x…$/);
  expect(inlineJson(value, 4000).length).toBeGreaterThan(3900);
  expect(inlineJson(value, 2000)).toMatch(/x…$/);
  expect(inlineJson({ to: "x" })).toBe('{ "to": "x" }');
});

test("a character that turns the direction of the text after it is spelt out", () => {
  expect(inlineJson({ file: "invoice\u202Efdp.exe" })).toBe('{ "file": "invoice\\u202efdp.exe" }');
});

test("the words of an object are its plain values and those of the objects in it", () => {
  const call = { tool: "deleteCustomer", input: { id: "cus_8813", forced: true, days: 3 }, notes: ["long"] };
  expect(inlineWords(call)).toBe("deleteCustomer · cus_8813 · 3");
  expect(inlineWords({ notes: ["long"] })).toBe('{ "notes": [ "long" ] }');
});
