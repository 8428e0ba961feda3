// What the demo model answers when JSON for a schema is asked for: every value is valid.
import { generateText, jsonSchema, Output } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { demoModel } from "./demo-model.ts";

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
  "long email": z.email().min(40),
  "short email": z.email().max(10),
  url: z.url(),
  uuid: z.uuid(),
  "date and time": z.iso.datetime(),
  "date and time with offset": z.iso.datetime({ offset: true }),
  "local date and time": z.iso.datetime({ local: true }),
  date: z.iso.date(),
  time: z.iso.time(),
  duration: z.iso.duration(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidr: z.tuple([z.cidrv4(), z.cidrv6()]),
  encodings: z.tuple([z.base64(), z.base64url(), z.jwt()]),
  ids: z.tuple([z.nanoid(), z.cuid(), z.cuid2(), z.ulid(), z.xid(), z.ksuid(), z.guid()]),
  "other formats": z.tuple([z.hostname(), z.e164(), z.emoji()]),
  "starts, ends, includes": z.tuple([
    z.string().startsWith("ab"),
    z.string().endsWith("yz"),
    z.string().includes("q"),
  ]),
  "upper and lower case": z.tuple([z.string().uppercase(), z.string().lowercase()]),
  pattern: z.string().regex(/^[A-Z]{3}-\d{2,4}(?:-(?:x|y))?$/),
  "pattern with length": z.string().regex(/^\w+$/).min(12).max(20),
  "slug pattern": z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  "template literal": z.templateLiteral(["item-", z.number()]),
  array: z.array(z.string()).min(3),
  "empty array": z.array(z.string()).max(0),
  "long array": z.array(z.int()).min(50),
  tuple: z.tuple([z.string(), z.number(), z.boolean()]),
  "tuple with rest": z.tuple([z.string()], z.int()),
  record: z.record(z.string(), z.number()),
  "record of known keys": z.record(z.enum(["a", "b"]), z.number()),
  "record of patterned keys": z.record(z.string().regex(/^k\d+$/), z.boolean()),
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
  "oneOf of overlapping numbers": {
    oneOf: [
      { type: "integer", minimum: 0 },
      { type: "integer", maximum: 10 },
    ],
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

async function fill(schema: object, prompt = "Plan a walk about rivers"): Promise<unknown> {
  const { text } = await generateText({
    model: demoModel(),
    output: Output.object({ schema: jsonSchema(schema) }),
    prompt,
  });
  return JSON.parse(text);
}

describe("a value for a schema is valid", () => {
  test.each(Object.entries(zodSchemas))("zod: %s", async (_name, schema) => {
    for (const target of ["draft-2020-12", "draft-7"] as const) {
      const value = await fill(z.toJSONSchema(schema, { io: "input", target }));
      expect(schema.safeParse(value).error).toBeUndefined();
    }
  });

  test.each(Object.entries(plainSchemas))("JSON Schema: %s", async (_name, schema) => {
    const value = await fill(schema);
    expect(z.fromJSONSchema(schema).safeParse(value).error).toBeUndefined();
  });

  test("a value that must not be of another schema", async () => {
    expect(await fill({ type: "string", not: { minLength: 3 } })).toBe("d");
    expect(await fill({ type: "boolean", not: { const: true } })).toBe(false);
  });

  test("a constant object and a reference with escapes", async () => {
    const constant = { fixed: [1, "two", null] };
    expect(await fill({ const: constant })).toEqual(constant);
    const schema = { $ref: "#/definitions/a~1b%20c", definitions: { "a/b c": { enum: ["found"] } } };
    expect(await fill(schema)).toBe("found");
  });

  test("through Output.object, Output.array, Output.choice and Output.json", async () => {
    const ask = { model: demoModel(), prompt: "Choose green" };
    const element = z.object({ name: z.string(), size: z.int().positive() });
    const object = await generateText({ ...ask, output: Output.object({ schema: element }) });
    const array = await generateText({ ...ask, output: Output.array({ element }) });
    const choice = await generateText({ ...ask, output: Output.choice({ options: ["red", "green"] }) });
    const json = await generateText({ ...ask, output: Output.json() });
    expect(object.output.size).toBeGreaterThan(0);
    expect(array.output).toHaveLength(2);
    expect(choice.output).toBe("green");
    expect(json.output).toBeTypeOf("object");
  });
});

describe("values come from the prompt", () => {
  test("titles, topics and texts use its words", async () => {
    const schema = z.object({
      title: z.string(),
      topic: z.string(),
      content: z.string(),
      summary: z.string(),
    });
    const value = await fill(z.toJSONSchema(schema), "Write an article about old trains");
    expect(value).toMatchObject({ title: "Old trains", topic: "old trains" });
    expect(value).toHaveProperty("content", expect.stringContaining("old trains"));
    expect(value).toHaveProperty("summary", expect.stringContaining("old trains"));
  });

  test("named values are used when they are valid, and only then", async () => {
    const schema = z.object({ age: z.int().max(120), size: z.enum(["small", "large"]), active: z.boolean() });
    expect(await fill(z.toJSONSchema(schema), "age: 42, size=large, active=no")).toEqual({
      age: 42,
      size: "large",
      active: false,
    });
    expect(await fill(z.toJSONSchema(schema), "age: 999")).toMatchObject({
      age: expect.any(Number),
      size: "small",
    });
    expect(schema.safeParse(await fill(z.toJSONSchema(schema), "age: 999")).success).toBe(true);
  });

  test("JSON in the message is used when it is valid", async () => {
    const schema = z.toJSONSchema(z.object({ city: z.string(), days: z.int() }));
    expect(await fill(schema, 'Reply with {"city":"Rome","days":3}')).toEqual({ city: "Rome", days: 3 });
    expect(await fill(schema, 'Take {"city":"Rome","days":3} please')).toEqual({ city: "Rome", days: 3 });
  });
});

describe("a hostile schema is answered in bounded time and size", () => {
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
        Array.from({ length: 20_000 }, (_, index) => [
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
    "%s",
    async (_name, schema) => {
      const { content } = await demoModel().doGenerate({
        prompt: [{ role: "user", content: [{ type: "text", text: "fill it" }] }],
        responseFormat: { type: "json", schema },
      });
      const [part] = content;
      expect(part?.type).toBe("text");
      if (part?.type === "text") expect(part.text.length).toBeLessThan(2_000_000);
    },
    5_000,
  );
});
