// Examples for JSON Schemas: the value fits the schema, or the problem names the place where it does not.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { exampleValue } from "./example-value.ts";

interface Tree {
  value: string;
  children: Tree[];
}
const tree: z.ZodType<Tree> = z.object({ value: z.string(), children: z.lazy(() => z.array(tree)) });
const linked = z.object({
  id: z.uuid(),
  get next() {
    return linked.nullable();
  },
});

const zodSchemas: Record<string, z.ZodType> = {
  string: z.string(),
  "short string": z.string().min(3).max(5),
  "one letter": z.string().length(1),
  "long string": z.string().min(300),
  number: z.number(),
  integer: z.int(),
  "positive number": z.number().positive(),
  "negative number": z.number().negative(),
  "number in a small range": z.number().gt(0).lt(0.001),
  "integer in a far range": z.int().min(1_000).max(1_003),
  "decimal multiple": z.number().multipleOf(0.05).min(0.12),
  "integer multiple": z.int().multipleOf(7).min(100).max(110),
  boolean: z.boolean(),
  null: z.null(),
  enum: z.enum(["low", "high"]),
  "number literals": z.literal([3, 5]),
  nullable: z.string().nullable(),
  email: z.email(),
  url: z.url(),
  uuid: z.uuid(),
  "date and time": z.iso.datetime(),
  "date and time with offset": z.iso.datetime({ offset: true }),
  date: z.iso.date(),
  duration: z.iso.duration(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  hostname: z.hostname(),
  array: z.array(z.string()).min(3),
  "empty array": z.array(z.string()).max(0),
  "long array": z.array(z.int()).min(50),
  tuple: z.tuple([z.string(), z.number(), z.boolean()]),
  "tuple with rest": z.tuple([z.string()], z.int()),
  record: z.record(z.string(), z.number()),
  "record of known keys": z.record(z.enum(["a", "b"]), z.number()),
  object: z.object({ title: z.string(), count: z.int().min(2), done: z.boolean().optional() }),
  "strict object": z.strictObject({
    name: z.string(),
    nested: z.strictObject({ tags: z.array(z.string()) }),
  }),
  "loose object": z.looseObject({ name: z.string() }),
  "object with defaults": z.object({ size: z.number().default(12), unit: z.enum(["m", "km"]).default("km") }),
  union: z.union([z.object({ a: z.string() }), z.number()]),
  "discriminated union": z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("circle"), radius: z.number().positive() }),
    z.object({ kind: z.literal("square"), side: z.number().positive() }),
  ]),
  "exclusive union": z.xor([z.object({ a: z.string() }), z.object({ b: z.string() })]),
  intersection: z.intersection(z.object({ a: z.string().min(2) }), z.object({ b: z.number() })),
  "intersection of limits": z.intersection(z.int().min(5), z.int().max(6)),
  unknown: z.object({ anything: z.unknown() }),
  "never, when optional": z.object({ a: z.string(), b: z.never().optional() }),
  tree,
  "linked list": linked,
  "coerced input": z.object({ age: z.coerce.number().int().min(0).max(150) }),
  "deep object": z.object({
    a: z.object({ b: z.object({ c: z.object({ d: z.object({ e: z.email() }) }) }) }),
  }),
};

const plainSchemas: Record<string, Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>> = {
  "no keywords": {},
  const: { const: "fixed" },
  "enum of mixed types": { enum: [null, 4, "x"] },
  "types as a list": { type: ["null", "integer"], minimum: 4 },
  "exclusive limits": { type: "number", exclusiveMinimum: 1, exclusiveMaximum: 2 },
  "allOf with a reference": {
    $defs: {
      named: { type: "object", properties: { name: { type: "string", minLength: 2 } }, required: ["name"] },
    },
    allOf: [
      { $ref: "#/$defs/named" },
      { type: "object", properties: { size: { type: "integer" } }, required: ["size"] },
    ],
  },
  "draft 7 tuple": {
    type: "array",
    items: [{ type: "string" }, { type: "integer" }],
    additionalItems: false,
    minItems: 2,
  },
  "unique items": { type: "array", items: { type: "string", maxLength: 3 }, minItems: 5, uniqueItems: true },
  "unique enum": { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 3, uniqueItems: true },
  "unique numbers": {
    type: "array",
    items: { type: "integer", minimum: 10, maximum: 13 },
    minItems: 4,
    uniqueItems: true,
  },
  "minimum of properties": { type: "object", additionalProperties: { type: "integer" }, minProperties: 3 },
  "required without a property": {
    type: "object",
    properties: {},
    required: ["token"],
    additionalProperties: { type: "string" },
  },
  "anyOf, the first impossible": { anyOf: [{ not: {} }, { type: "string", enum: [] }, { type: "boolean" }] },
  "required recursion through anyOf": {
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        properties: {
          left: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
          right: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
        },
        required: ["left", "right"],
        additionalProperties: false,
      },
    },
  },
};

describe("an example fits its schema", () => {
  test.each(Object.entries(zodSchemas))("Zod: %s", (_name, schema) => {
    for (const target of ["draft-2020-12", "draft-7"] as const) {
      const { value, problem } = exampleValue(z.toJSONSchema(schema, { io: "input", target }));
      expect([problem, schema.safeParse(value).error]).toEqual([undefined, undefined]);
    }
  });

  test.each(Object.entries(plainSchemas))("JSON Schema: %s", (_name, schema) => {
    const { value, problem } = exampleValue(schema);
    expect([problem, z.fromJSONSchema(schema).safeParse(value).error]).toEqual([undefined, undefined]);
  });

  test("a constant object and a reference with escapes", () => {
    const constant = { fixed: [1, "two", null] };
    expect(exampleValue({ const: constant }).value).toEqual(constant);
    const schema = { $ref: "#/definitions/a~1b%20c", definitions: { "a/b c": { enum: ["found"] } } };
    expect(exampleValue(schema).value).toBe("found");
  });

  test("a default or the first example is used, otherwise a plausible value for the name", () => {
    const schema = z.object({
      size: z.number().default(12),
      color: z.string().meta({ examples: ["green"] }),
      code: z
        .string()
        .regex(/^[A-Z]{3}$/)
        .meta({ examples: ["ABC"] }),
      topic: z.string(),
    });
    const { value } = exampleValue(z.toJSONSchema(schema, { io: "input" }));
    expect(value).toEqual({ size: 12, color: "green", code: "ABC", topic: "walking" });
  });

  test("the same schema gives the same example, and the schema is not changed", () => {
    const schema = Object.freeze({ type: "object", properties: Object.freeze({ a: Object.freeze({}) }) });
    expect(exampleValue(schema)).toEqual(exampleValue(schema));
  });
});

describe("preferences", () => {
  const schema = z.toJSONSchema(z.object({ age: z.int().max(120), name: z.string().optional() }));

  test("are used where they fit the schema", () => {
    const preferences = (age: number) => ({ values: (name: string) => (name === "age" ? [age] : []) });
    expect(exampleValue(schema, preferences(42)).value).toMatchObject({ age: 42 });
    expect(exampleValue(schema, preferences(999))).toMatchObject({ value: { age: 1 }, problem: undefined });
  });

  test("decide which optional properties are filled", () => {
    expect(exampleValue(schema, { wants: () => false }).value).toEqual({ age: 1 });
  });
});

describe("a schema that cannot be filled", () => {
  test("is reported with its place, and the rest of the example is there", () => {
    const code = { type: "string", pattern: "^[A-Z]{3}-\\d{2}$" };
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, code },
      required: ["name", "code"],
    };
    const { value, problem } = exampleValue(schema);
    expect(value).toMatchObject({ name: "Ada Lovelace" });
    expect(problem).toMatch(/^code: /);
  });

  const everyWay = { $ref: "#/$defs/a" };
  const hostile: Record<string, object> = {
    "reference to itself": { $ref: "#" },
    "endless required recursion": {
      type: "object",
      properties: { again: { $ref: "#" } },
      required: ["again"],
    },
    "doubling allOf": { $defs: { a: { allOf: [everyWay, everyWay] } }, ...everyWay },
    "doubling anyOf": { $defs: { a: { anyOf: [everyWay, everyWay, { type: "null" }] } }, ...everyWay },
    "wide recursion": {
      $defs: {
        a: {
          type: "object",
          properties: Object.fromEntries(
            Array.from({ length: 100 }, (_, index) => [
              `p${index}`,
              { type: "array", items: everyWay, minItems: 3 },
            ]),
          ),
        },
      },
      ...everyWay,
    },
    "huge limits": {
      type: "array",
      minItems: 1e12,
      items: { type: "array", minItems: 1e12, items: { type: "string", minLength: 1e12 } },
    },
    "costly pattern": { type: "string", pattern: "^((((a+)+)+)+)+((b*)*)*$", minLength: 100, maxLength: 120 },
    "costly empty repeats": { type: "string", pattern: "^((((()*){9,999999})*){9,999999})*x$" },
    "nested groups": { type: "string", pattern: `${"(".repeat(900)}${")".repeat(900)}` },
    "broken keywords": {
      type: 7,
      properties: [1],
      required: "x",
      items: "y",
      enum: {},
      minimum: "z",
      $ref: 4,
      anyOf: {},
      pattern: "[",
    },
    "thousands of properties": {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 4_000 }, (_, index) => [
          `p${index}`,
          { enum: Array.from({ length: 500 }, (_, value) => value) },
        ]),
      ),
    },
    impossible: { not: {} },
    "a property named __proto__": JSON.parse(
      '{"properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
    ),
    "impossible property": { type: "object", properties: { a: false }, required: ["a"] },
  };

  test.each(Object.entries(hostile))(
    "%s: ends in bounded time and size",
    (_name, schema) => {
      const { value } = exampleValue(schema);
      expect(JSON.stringify(value).length).toBeLessThan(2_000_000);
    },
    5_000,
  );
});
