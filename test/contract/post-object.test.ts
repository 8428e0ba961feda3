// POST /agents/:id/object: an object that fits the caller's schema
import { describe, expect, test } from "vitest";
import { objectModel } from "../support/agents.ts";
import { dataOf, errorOf, payloadOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const point = {
  type: "object",
  properties: { x: { type: "number" }, y: { type: "number", minimum: 0 } },
  required: ["x", "y"],
};
const ask = (input: unknown, schema: unknown, agent = "object") =>
  server.post(`/agents/${agent}/object`, { input, schema });

test("the data is the object, and the model was shown the schema", async () => {
  expect(dataOf(await ask('{"x":1,"y":2}', point))).toEqual({ x: 1, y: 2 });
  expect(objectModel.asked.at(-1)?.responseFormat).toMatchObject({ type: "json", schema: point });
});

test("a schema may ask for something that is no object", async () => {
  expect(payloadOf(await ask("[1,2]", { type: "array", items: { type: "number" } }))).toEqual([1, 2]);
});

test("a fenced answer is read", async () => {
  expect(dataOf(await ask('```json\n{"x":1,"y":2}\n```', point))).toEqual({ x: 1, y: 2 });
});

test("a reply that does not fit gets one more try, in which the model sees the error", async () => {
  const before = objectModel.asked.length;
  expect(dataOf(await ask('{"x":1} then {"x":1,"y":2}', point))).toEqual({ x: 1, y: 2 });
  const tries = objectModel.asked.slice(before);
  expect(tries).toHaveLength(2);
  expect(tries[1]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
});

test.each([
  ["a missing field", '{"x":1}', /^The model's reply does not fit the schema: .*"y"/],
  ["a number out of range", '{"x":1,"y":-1}', /^The model's reply does not fit the schema: y: /],
  ["no JSON", "I would rather not", "The model's reply does not fit the schema: it is not JSON"],
])("%s after the second try is 422", async (_, said, message) => {
  const before = objectModel.asked.length;
  expect(errorOf(await ask(said, point), 422)).toMatch(message);
  expect(objectModel.asked.length - before).toBe(2);
});

describe("a schema that is none is 400 and reaches no model", () => {
  const deep = JSON.parse(`${'{"items":'.repeat(40)}{}${"}".repeat(40)}`);
  const wide = {
    properties: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`property-${index}`, {}])),
  };
  test.each([
    ["none at all", undefined, "Invalid schema: expected a JSON Schema object"],
    ["a text", "object", "Invalid schema: expected a JSON Schema object"],
    ["a list", [], "Invalid schema: expected a JSON Schema object"],
    [
      "an unknown type",
      { type: "date" },
      "Invalid schema: schema.type: expected a type or an array of types",
    ],
    [
      "properties that are no schemas",
      { properties: { a: 1 } },
      "Invalid schema: schema.properties.a: expected a schema",
    ],
    [
      "required that is no list",
      { required: "a" },
      "Invalid schema: schema.required: expected an array of strings",
    ],
    ["an empty anyOf", { anyOf: [] }, "Invalid schema: schema.anyOf: expected an array of schemas"],
    ["a broken pattern", { pattern: "(" }, "Invalid schema: schema.pattern: expected a regular expression"],
    [
      "a pattern that is too long",
      { pattern: "a".repeat(1001) },
      "Invalid schema: schema.pattern: expected a regular expression",
    ],
    [
      "a broken property pattern",
      { patternProperties: { "(": {} } },
      "Invalid schema: schema.patternProperties: expected regular expressions",
    ],
    [
      "a remote reference",
      { $ref: "http://evil.example/schema" },
      /^Invalid schema: schema\.\$ref: expected a reference inside/,
    ],
    [
      "a remote reference deep inside",
      { allOf: [{ items: { $ref: "other.json" } }] },
      /^Invalid schema: schema\.allOf\.0\.items\.\$ref/,
    ],
    ["too deep", deep, /nested deeper than 32 levels$/],
    ["too large", wide, "Invalid schema: larger than 65536 characters"],
  ])("%s", async (_, schema, message) => {
    const before = objectModel.asked.length;
    expect(errorOf(await ask("{}", schema), 400)).toMatch(message);
    expect(objectModel.asked).toHaveLength(before);
  });
});

test("a pattern of a thousand characters is still one", async () => {
  const schema = { type: "object", properties: { a: { type: "string", pattern: "a".repeat(1000) } } };
  expect(dataOf(await ask("{}", schema))).toEqual({});
});

describe("a schema made to hurt does not hold up the others", () => {
  const doubling: Record<string, unknown> = { a0: {} };
  for (let n = 1; n < 40; n++)
    doubling[`a${n}`] = { allOf: [{ $ref: `#/$defs/a${n - 1}` }, { $ref: `#/$defs/a${n - 1}` }] };
  test.each([
    [
      "a pattern that backtracks",
      { type: "string", pattern: "^(a+)+$" },
      JSON.stringify(`${"a".repeat(40)}b`),
      /could not be checked within 100 ms$/,
    ],
    [
      "a property pattern that backtracks",
      { patternProperties: { "^(a+)+$": {} } },
      JSON.stringify({ [`${"a".repeat(40)}b`]: 1 }),
      /could not be checked within 100 ms$/,
    ],
    [
      "references that multiply",
      { $defs: doubling, $ref: "#/$defs/a39" },
      "1",
      /could not be checked within 100 ms$/,
    ],
    ["a reference to itself", { $ref: "#" }, "1", /refers to itself without end$/],
    ["a reference to nothing", { $ref: "#/$defs/none" }, "1", /could not be evaluated$/],
  ])("%s", async (_, schema, said, message) => {
    expect(errorOf(await ask(said, schema), 422)).toMatch(message);
  });
});

test("an agent of the AI SDK gets the schema as text", async () => {
  const answer = await ask("x", point, "foreign");
  expect(errorOf(answer, 422)).toContain("it is not JSON");
});

test("a provider that fails is 502", async () => {
  expect(errorOf(await ask("500", point, "failing"), 502)).toBe("The model provider failed to answer");
});
