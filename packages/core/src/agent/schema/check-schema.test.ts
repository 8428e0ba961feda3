// Which JSON Schemas of callers are evaluated, where one is wrong, and the verdict of the schema thread on a value.
import { describe, expect, test } from "vitest";
import { InvalidSchemaError } from "../../errors/index.ts";
import { problemOfSchema, schemaText } from "./check-schema.ts";
import { performWork } from "./schema-thread.ts";

const nested = (levels: number): unknown => (levels === 0 ? {} : { not: nested(levels - 1) });
const listed = (levels: number): unknown => (levels === 0 ? {} : { anyOf: [listed(levels - 1)] });

test.each([
  true,
  {},
  { type: "integer", minimum: 0, maximum: 9, exclusiveMinimum: -1, exclusiveMaximum: 10, multipleOf: 0.5 },
  { type: ["null", "boolean", "object", "array", "number", "string", "integer"] },
  { type: ["string", "null"], minLength: 0, maxLength: 3, pattern: "^a+$", format: "email" },
  { type: "array", items: { type: "number" }, minItems: 0, maxItems: 3, uniqueItems: true, contains: false },
  { type: "object", properties: { a: {} }, required: ["a"], additionalProperties: false, minProperties: 0 },
  { allOf: [{}], anyOf: [true], oneOf: [{}], prefixItems: [{}] },
  { $defs: { a: { enum: [] } }, $ref: "#/$defs/a", $dynamicRef: "#a", $anchor: "a" },
  { patternProperties: { "^a": {} }, dependentRequired: { a: ["b"] }, dependentSchemas: { a: {} } },
  { "x-unknown": [1], const: { type: "no schema" }, default: null, examples: [1] },
  { pattern: "a".repeat(1000) },
  { properties: { "(": {} } },
  nested(32),
])("is evaluated: %j", (schema) => {
  expect(problemOfSchema(schema)).toBeUndefined();
});

test.each<[unknown, string]>([
  [null, "schema: expected a schema"],
  [[], "schema: expected a schema"],
  ["string", "schema: expected a schema"],
  [{ type: "date" }, "schema.type: expected a type or an array of types"],
  [{ type: ["string", "date"] }, "schema.type: expected a type or an array of types"],
  [{ type: {} }, "schema.type: expected a type or an array of types"],
  [{ enum: {} }, "schema.enum: expected an array"],
  [{ required: "a" }, "schema.required: expected an array of strings"],
  [{ required: [1] }, "schema.required: expected an array of strings"],
  [{ required: ["a", 1] }, "schema.required: expected an array of strings"],
  [{ title: 1 }, "schema.title: expected a string"],
  [{ uniqueItems: 1 }, "schema.uniqueItems: expected true or false"],
  [{ minimum: "1" }, "schema.minimum: expected a number"],
  [{ multipleOf: 0 }, "schema.multipleOf: expected a number above 0"],
  [{ multipleOf: "1" }, "schema.multipleOf: expected a number above 0"],
  [{ minLength: -1 }, "schema.minLength: expected a whole number"],
  [{ maxItems: 1.5 }, "schema.maxItems: expected a whole number"],
  [{ pattern: "(" }, "schema.pattern: expected a regular expression"],
  [{ pattern: "a".repeat(1001) }, "schema.pattern: expected a regular expression"],
  [{ $ref: "other.json" }, "schema.$ref: expected a reference inside the schema, starting with #"],
  [{ $ref: 1 }, "schema.$ref: expected a reference inside the schema, starting with #"],
  [{ dependentRequired: { a: "b" } }, "schema.dependentRequired: expected an object of string arrays"],
  [{ dependentRequired: [] }, "schema.dependentRequired: expected an object of string arrays"],
  [{ items: 1 }, "schema.items: expected a schema"],
  [{ items: { items: null } }, "schema.items.items: expected a schema"],
  [{ allOf: {} }, "schema.allOf: expected an array of schemas"],
  [{ allOf: [] }, "schema.allOf: expected an array of schemas"],
  [{ anyOf: [{}, 1] }, "schema.anyOf.1: expected a schema"],
  [{ properties: [] }, "schema.properties: expected an object of schemas"],
  [
    { properties: { a: {}, b: { type: 1 } } },
    "schema.properties.b.type: expected a type or an array of types",
  ],
  [{ patternProperties: { "(": {} } }, "schema.patternProperties: expected regular expressions"],
  [{ patternProperties: { a: {}, "(": {} } }, "schema.patternProperties: expected regular expressions"],
  [
    { dependentRequired: { a: ["b"], c: "d" } },
    "schema.dependentRequired: expected an object of string arrays",
  ],
  [{ title: "a", description: 1 }, "schema.description: expected a string"],
  [{ pattern: 1 }, "schema.pattern: expected a regular expression"],
  // Without its flag for Unicode it would be one.
  [{ pattern: "\\-" }, "schema.pattern: expected a regular expression"],
  [{ $defs: { ["a".repeat(300)]: 1 } }, `schema.$defs.${"a".repeat(187)}: expected a schema`],
  [listed(33), `schema${".anyOf.0".repeat(24)}.a: nested deeper than 32 levels`],
  [nested(33), `schema${".not".repeat(33)}: nested deeper than 32 levels`],
])("is refused with the place: %j", (schema, found) => {
  expect(problemOfSchema(schema)).toBe(found);
});

/** Keywords whose value is not a schema, by the type of the value, with a valid and an invalid one. */
const keywords: [expected: string, right: unknown, wrong: unknown, ...string[]][] = [
  ["a type or an array of types", "object", "date", "type"],
  ["an array", [1], 1, "enum"],
  ["an array of strings", ["a"], [1], "required"],
  ["a string", "a", 1, "title", "description", "format"],
  ["a string", "a", 1, "$id", "$anchor", "$dynamicAnchor", "$comment", "$schema"],
  ["true or false", true, "true", "uniqueItems"],
  ["a number", -0.5, "1", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  ["a number above 0", 0.5, 0, "multipleOf"],
  ["a whole number", 2, 0.5, "minLength", "maxLength", "minItems", "maxItems"],
  ["a whole number", 2, 0.5, "minContains", "maxContains", "minProperties", "maxProperties"],
  ["a regular expression", "a+", "(", "pattern"],
  ["a reference inside the schema, starting with #", "#a", "a", "$ref", "$dynamicRef"],
  ["an object of string arrays", { a: ["b"] }, { a: "b" }, "dependentRequired"],
];

test.each(
  keywords.flatMap(([expected, right, wrong, ...names]) =>
    names.map((name) => [name, expected, right, wrong] as const),
  ),
)("%s must be %s", (name, expected, right, wrong) => {
  expect(problemOfSchema({ [name]: right })).toBeUndefined();
  expect(problemOfSchema({ [name]: wrong })).toBe(`schema.${name}: expected ${expected}`);
});

test("schemas inside are looked at, one by one, in lists and by name", () => {
  const one = [
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "items",
    "additionalItems",
  ];
  for (const name of [...one, "contains", "propertyNames", "not", "if", "then", "else"]) {
    expect(problemOfSchema({ [name]: { title: 1 } })).toBe(`schema.${name}.title: expected a string`);
  }
  for (const name of ["allOf", "anyOf", "oneOf", "prefixItems"]) {
    expect(problemOfSchema({ [name]: [{ title: 1 }] })).toBe(`schema.${name}.0.title: expected a string`);
  }
  for (const name of ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]) {
    expect(problemOfSchema({ [name]: { a: { title: 1 } } })).toBe(
      `schema.${name}.a.title: expected a string`,
    );
  }
});

describe("as text", () => {
  test("an object that fits is given as JSON", () => {
    expect(schemaText({ type: "string" })).toBe('{"type":"string"}');
    expect(schemaText({ title: "x".repeat(64 * 1024 - 12) })).toHaveLength(64 * 1024);
  });

  test("one that contains itself is refused with the place", () => {
    const circle: Record<string, unknown> = {};
    circle.not = circle;
    expect(() => schemaText(circle)).toThrow(/^Invalid schema: schema at not cannot be kept as JSON/);
  });

  test.each<[unknown, RegExp]>([
    [null, /expected a JSON Schema object/],
    [[], /expected a JSON Schema object/],
    ["{}", /expected a JSON Schema object/],
    [{ title: "x".repeat(64 * 1024 - 11) }, /larger than 65536 characters/],
    [{ enum: [1n] }, /^Invalid schema: schema at enum\[0\] cannot be kept as JSON: it is a bigint$/],
  ])("any other value is refused (case %#)", (schema, message) => {
    expect(() => schemaText(schema)).toThrow(InvalidSchemaError);
    expect(() => schemaText(schema)).toThrow(message);
  });
});

describe("the work of the schema thread", () => {
  const perform = (schema: unknown, value?: unknown) =>
    performWork({
      schema: JSON.stringify(schema),
      value: value === undefined ? undefined : JSON.stringify(value),
      limit: 100,
    });

  test("a schema alone is judged, with a value the value is", () => {
    expect(perform({ type: "number" })).toEqual({ ok: true });
    expect(perform({ type: "date" })).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^schema.type/),
    });
    expect(perform({ type: "number" }, 1)).toEqual({ ok: true });
    expect(perform({ properties: { a: { type: "number" } } }, { a: "x" })).toEqual({
      ok: false,
      detail: expect.stringMatching(/^a: Instance type "string" is invalid/),
      overran: false,
    });
  });

  test("the path of a value that does not fit is named, and no path where it is the value itself", () => {
    const type = 'Instance type "string" is invalid. Expected "number".';
    expect(perform({ type: "number" }, "x")).toMatchObject({ detail: type });
    const schema = { properties: { a: { items: { type: "number" } } } };
    expect(perform(schema, { a: [1, "x"] })).toMatchObject({ detail: `a.1: ${type}` });
  });

  test("one that takes too long returns this reason, and may be tried again", () => {
    const work = { schema: '{"pattern":"^(a+)+$"}', value: JSON.stringify(`${"a".repeat(40)}b`) };
    expect(performWork({ ...work, limit: 20 })).toEqual({
      ok: false,
      detail: "the schema could not be checked within 20 ms",
      overran: true,
    });
  });

  test("one that refers to itself without end, and one that cannot be evaluated, say so", () => {
    expect(perform({ $ref: "#" }, 1)).toMatchObject({
      ok: false,
      detail: "the schema refers to itself without end",
      overran: false,
    });
    expect(perform({ $ref: "#/nowhere" }, 1)).toMatchObject({
      ok: false,
      detail: "the schema could not be evaluated",
      overran: false,
    });
  });
});
