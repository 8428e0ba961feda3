// A schema that describes a value to the model, and checks it only where it is given a function for that.
import { expect, test } from "vitest";
import { plainSchema, toJsonSchema, validate } from "./schema.ts";

test("it is the JSON Schema that it was made of, and checks nothing", async () => {
  const described = { type: "object", properties: { prompt: { type: "string" } } };
  const schema = plainSchema<{ prompt: string }>(described);
  expect(toJsonSchema(schema, "input", "a tool")).toEqual(described);
  expect(await validate(schema, { other: 1 })).toEqual({ ok: true, value: { other: 1 } });
});

test("with a function it checks", async () => {
  const schema = plainSchema<string>({}, (value) => (value === "good" ? undefined : "not good"));
  expect(await validate(schema, "good")).toEqual({ ok: true, value: "good" });
  expect(await validate(schema, "bad")).toEqual({ ok: false, detail: "not good" });
});
