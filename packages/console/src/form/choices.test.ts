// Unions of objects in a form: no branch is preselected.
import { createSchemaUtils, type RJSFSchema } from "@rjsf/utils";
import { expect, test } from "vitest";
import { withOpenChoices } from "./choices.ts";
import { validator } from "./validator.ts";

const approve = {
  type: "object",
  properties: { kind: { const: "approve" }, amount: { type: "number" } },
  required: ["kind", "amount"],
};
const reject = {
  type: "object",
  properties: { kind: { const: "reject" }, reason: { type: "string" } },
  required: ["kind", "reason"],
};
const union = { oneOf: [{ $ref: "#/$defs/approve" }, reject] };
const schema = {
  type: "object",
  properties: { decision: union, note: { type: "string" } },
  required: ["decision"],
  $defs: { approve },
};

test("the form library fills nothing in before one is chosen, and finds the one that data belong to", () => {
  const opened = withOpenChoices(schema) as RJSFSchema;
  const utils = createSchemaUtils(validator, opened);
  expect(utils.getDefaultFormState(opened, {})).toEqual({});
  const { decision } = opened.properties ?? {};
  const options = Object(decision).oneOf.map((each: RJSFSchema) => utils.retrieveSchema(each));
  expect(options.map(({ title }: RJSFSchema) => title)).toEqual(["Choose one", "Approve", "Reject"]);
  expect(utils.getClosestMatchingOption(undefined, options, 0)).toBe(0);
  expect(utils.getClosestMatchingOption({ kind: "reject" }, options, 0)).toBe(2);
  expect(utils.getDefaultFormState(opened, { decision: { kind: "approve", amount: 2 } })).toEqual({
    decision: { kind: "approve", amount: 2 },
  });
});

const behaviour = { requiredBooleanDefault: "skip" } as const;

test("a required Yes is not filled in beforehand, a required constant word is", () => {
  const agreed = {
    type: "object",
    properties: { agreed: { type: "boolean", const: true }, kind: { type: "string", const: "refund" } },
    required: ["agreed", "kind"],
  };
  const opened = withOpenChoices(agreed) as RJSFSchema;
  expect(createSchemaUtils(validator, opened, behaviour).getDefaultFormState(opened, {})).toEqual({
    kind: "refund",
  });
});

test("a union of words or of plain values stays as it is", () => {
  const plain = {
    type: "object",
    properties: {
      word: { anyOf: [{ const: "a" }, { const: "b" }] },
      value: { anyOf: [{ type: "string" }, { type: "number" }] },
    },
  };
  expect(withOpenChoices(plain)).toEqual(plain);
});

test("a value or null is the value with a mark, a list of constants a choice of several, anything is JSON, base64 a file", () => {
  const drawn = (field: object) => withOpenChoices({ type: "object", properties: { field } }).properties;
  const nothing = { type: "null" };
  expect(drawn({ type: ["number", "null"] })).toEqual({ field: { type: "number", nullable: true } });
  expect(drawn({ anyOf: [approve, nothing], title: "Maybe" })).toEqual({
    field: { ...approve, title: "Maybe", nullable: true },
  });
  expect(drawn({ anyOf: [approve, reject, nothing] })).toMatchObject({ field: { nullable: true } });
  const words = { type: "array", items: { enum: ["a", "b"] } };
  expect(drawn(words)).toEqual({ field: { ...words, uniqueItems: true } });
  expect(drawn({ title: "More" })).toEqual({ field: { title: "More", type: "string", format: "json" } });
  const file = { type: "string", contentEncoding: "base64" };
  expect(drawn(file)).toEqual({ field: { ...file, format: "base64" } });
});
