// What a form that answers is filled in with.
import { expect, test } from "vitest";
import { startingPoint } from "./starting-point.ts";

const filled = (properties: Record<string, unknown>, required: string[], example: unknown) =>
  startingPoint({ resumeSchema: { type: "object", properties, required } }, example);

test("what has to be there is filled in, what is optional is not", () => {
  const fields = { amount: { type: "number" }, note: { type: "string" } };
  expect(filled(fields, ["amount"], { amount: 5, note: "string" })).toEqual({ amount: 5 });
});

test("a decision is never made beforehand, however deep it stands", () => {
  const fields = {
    approved: { type: "boolean" },
    how: { enum: ["post", "mail"] },
    maybe: { anyOf: [{ type: "boolean" }, { type: "null" }] },
    word: { anyOf: [{ const: "a" }, { const: "b" }] },
    tags: { type: "array", items: { enum: ["x", "y"] } },
    kind: { const: "refund" },
    inside: {
      type: "object",
      properties: { sure: { type: "boolean" }, n: { type: "number" } },
      required: ["sure", "n"],
    },
  };
  const example = {
    ...{ approved: true, how: "post", maybe: true, word: "a", tags: ["x"], kind: "refund" },
    inside: { sure: true, n: 1 },
  };
  expect(filled(fields, Object.keys(fields), example)).toEqual({
    tags: [],
    kind: "refund",
    inside: { n: 1 },
  });
  expect(startingPoint({ resumeSchema: { type: "boolean" } }, true)).toBeUndefined();
});

test("what is not an object is filled in as it is, and without a schema nothing is known", () => {
  expect(startingPoint({ resumeSchema: { type: "string" } }, "string")).toBe("string");
  expect(startingPoint({ resumeSchema: undefined }, true)).toEqual({});
});
