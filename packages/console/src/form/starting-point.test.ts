// The initial values of a form for resume data.
import { expect, test } from "vitest";
import { startingPoint } from "./starting-point.ts";

const filled = (properties: Record<string, unknown>, required: string[], example: unknown) =>
  startingPoint({ resumeSchema: { type: "object", properties, required } }, example);

test("required fields are filled in, optional ones are not", () => {
  const fields = { amount: { type: "number" }, note: { type: "string" } };
  expect(filled(fields, ["amount"], { amount: 5, note: "string" })).toEqual({ amount: 5 });
});

test("a decision is never made beforehand, at any depth", () => {
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

test("one of several objects is not chosen beforehand, nor is a choice that is defined elsewhere in the schema", () => {
  const approve = { type: "object", properties: { kind: { const: "approve" } }, required: ["kind"] };
  const reject = { type: "object", properties: { kind: { const: "reject" } }, required: ["kind"] };
  const $defs = {
    approve,
    reject,
    sure: { type: "boolean" },
    how: { enum: ["post", "mail"] },
    again: { anyOf: [{ $ref: "#/$defs/again" }, { $ref: "#/$defs/how" }] },
    detail: {
      type: "object",
      properties: { sure: { $ref: "#/$defs/sure" }, n: { type: "number" } },
      required: ["sure", "n"],
    },
  };
  const properties = {
    decision: { oneOf: [approve, reject] },
    referred: { anyOf: [{ $ref: "#/$defs/approve" }, { $ref: "#/$defs/reject" }] },
    maybe: { anyOf: [approve, reject, { type: "null" }] },
    sure: { $ref: "#/$defs/sure", description: "Are you?" },
    how: { allOf: [{ $ref: "#/$defs/how" }], title: "How" },
    again: { $ref: "#/$defs/again" },
    list: { type: "array", items: { $ref: "#/$defs/how" } },
    detail: { $ref: "#/$defs/detail" },
    plain: { anyOf: [{ type: "string" }, { type: "number" }] },
    lost: { $ref: "#/$defs/nowhere" },
  };
  const resumeSchema = { type: "object", properties, required: Object.keys(properties), $defs };
  const kind = { kind: "approve" };
  const example = {
    ...{
      decision: kind,
      referred: kind,
      maybe: kind,
      sure: true,
      how: "post",
      again: "post",
      list: ["post"],
    },
    ...{ detail: { sure: true, n: 1 }, plain: "string", lost: "x" },
  };
  expect(startingPoint({ resumeSchema }, example)).toEqual({
    ...{ list: [], detail: { n: 1 }, plain: "string", lost: "x" },
  });
  expect(startingPoint({ resumeSchema: { anyOf: [approve, reject] } }, kind)).toBeUndefined();
});

test("a value that is not an object is filled in as it is, and without a schema nothing is known", () => {
  expect(startingPoint({ resumeSchema: { type: "string" } }, "string")).toBe("string");
  expect(startingPoint({ resumeSchema: undefined }, true)).toEqual({});
});
