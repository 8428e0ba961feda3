// The initial values of a form for resume data.
import { expect, test } from "vitest";
import { startingPoint } from "./starting-point.ts";

const started = (properties: Record<string, unknown>, data: unknown, more = {}) =>
  startingPoint({
    resumeSchema: { type: "object", properties, required: Object.keys(properties), ...more },
    data,
  });

test("a form starts empty, with required fields too", () => {
  const fields = { amount: { type: "number" }, note: { type: "string" }, payOn: { type: "string" } };
  expect(started(fields, undefined)).toBeUndefined();
  expect(started(fields, "Please decide")).toBeUndefined();
  expect(started(fields, { order: "ord_1" })).toBeUndefined();
  expect(startingPoint({ resumeSchema: undefined, data: { amount: 5 } })).toBeUndefined();
});

test("fields of the suspension's data are taken over where they fit, optional ones too", () => {
  const fields = { amount: { type: "number" }, note: { type: "string", maxLength: 5 } };
  const data = { amount: 90, note: "too long", order: "ord_1" };
  expect(started(fields, data, { required: [] })).toEqual({ amount: 90 });
  expect(started(fields, { amount: "90 EUR", note: "ok" })).toEqual({ note: "ok" });
});

test("the approval of a tool starts with the input of the tool, whole", () => {
  const input = {
    type: "object",
    properties: { amount: { type: "number" }, express: { type: "boolean" } },
    required: ["amount"],
  };
  const data = { toolName: "refund", input: { amount: 90, express: true } };
  const fields = { approved: { type: "boolean" }, reason: { type: "string" }, input };
  expect(started(fields, data)).toEqual({ input: { amount: 90, express: true } });
  expect(started({ ...fields, input: {} }, data)).toEqual({ input: { amount: 90, express: true } });
});

test("a list is taken over where the whole of it fits", () => {
  const resumeSchema = { type: "array", items: { type: "number" } };
  expect(startingPoint({ resumeSchema, data: [1, 2] })).toEqual([1, 2]);
  expect(startingPoint({ resumeSchema, data: ["1"] })).toBeUndefined();
});

test("a decision is never made beforehand, also where the data has its name", () => {
  const approve = { type: "object", properties: { kind: { const: "approve" } }, required: ["kind"] };
  const reject = { type: "object", properties: { kind: { const: "reject" } }, required: ["kind"] };
  const $defs = {
    ...{ approve, reject, sure: { type: "boolean" }, how: { enum: ["post", "mail"] } },
    again: { anyOf: [{ $ref: "#/$defs/again" }, { $ref: "#/$defs/how" }] },
  };
  const fields = {
    approved: { type: "boolean" },
    how: { enum: ["post", "mail"] },
    maybe: { anyOf: [{ type: "boolean" }, { type: "null" }] },
    word: { anyOf: [{ const: "a" }, { const: "b" }] },
    decision: { oneOf: [approve, reject] },
    referred: { anyOf: [{ $ref: "#/$defs/approve" }, { $ref: "#/$defs/reject" }] },
    sure: { $ref: "#/$defs/sure", description: "Are you?" },
    shipping: { allOf: [{ $ref: "#/$defs/how" }], title: "How" },
    again: { $ref: "#/$defs/again" },
    kind: { const: "refund" },
    plain: { anyOf: [{ type: "string" }, { type: "number" }] },
  };
  const kind = { kind: "approve" };
  const data = {
    ...{ approved: true, how: "post", maybe: true, word: "a", decision: kind, referred: kind, sure: true },
    ...{ shipping: "post", again: "post", kind: "refund", plain: "words" },
  };
  expect(started(fields, data, { $defs })).toEqual({ kind: "refund", plain: "words" });
  expect(startingPoint({ resumeSchema: { anyOf: [approve, reject] }, data: kind })).toBeUndefined();
});
