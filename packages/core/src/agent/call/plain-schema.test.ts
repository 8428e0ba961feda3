// A schema that describes a value to the model and accepts whatever comes.
import { expect, test } from "vitest";
import { toJsonSchema, validate } from "../../values/schema.ts";
import { plainSchema } from "./plain-schema.ts";

test("it is the JSON Schema that it was made of, and checks nothing", async () => {
  const described = { type: "object", properties: { prompt: { type: "string" } } };
  const schema = plainSchema<{ prompt: string }>(described);
  expect(toJsonSchema(schema, "input", "a tool")).toEqual(described);
  expect(await validate(schema, { other: 1 })).toEqual({ ok: true, value: { other: 1 } });
});
