// The demo model's replies when JSON for a schema is requested.
import { generateText, jsonSchema, Output } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { demoModel } from "./demo-model.ts";

async function fill(schema: object, prompt = "Plan a walk about rivers"): Promise<unknown> {
  const { text } = await generateText({
    model: demoModel(),
    output: Output.object({ schema: jsonSchema(schema) }),
    prompt,
  });
  return JSON.parse(text);
}

describe("fills the schema", () => {
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

  test("that is written at the end of the message", async () => {
    const prompt = `Write about rivers\n\nReply with JSON for this JSON Schema:\n${JSON.stringify({ type: "object", properties: { title: { type: "string" } }, required: ["title"] })}`;
    expect(JSON.parse((await generateText({ model: demoModel(), prompt })).text)).toEqual({
      title: "Rivers",
    });
  });

  test("or names the place for which it cannot", async () => {
    const code = { type: "string", pattern: "^(?=.*[a-z])(?=.*\\d)(?=.*[^\\w]).{12}$" };
    const schema = { type: "object", properties: { code }, required: ["code"] };
    await expect(fill(schema)).rejects.toThrow(/^The demo model cannot make up a value for code: .*default/);
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
