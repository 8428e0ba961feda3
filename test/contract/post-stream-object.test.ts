// POST /agents/:id/stream-object: an object as it grows
import { expect, test } from "vitest";
import { aborted } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { errorOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const schema = {
  type: "object",
  properties: { title: { type: "string" }, words: { type: "array", items: { type: "string" } } },
  required: ["title", "words"],
};
const stream = async (input: string, agent = "object") =>
  server.stream(`/agents/${agent}/stream-object`, { input, schema });

test("the object grows line by line, and the last line is the whole one", async () => {
  const parts = await (await stream('{"title": "two words", "words": ["a", "b"]}')).rest();
  const deltas = parts.slice(0, -1);
  expect(deltas.length).toBeGreaterThan(2);
  for (const part of deltas) expect(Object.keys(part)).toEqual(["type", "object"]);
  expect(deltas).toContainEqual({ type: "object-delta", object: { title: "two " } });
  expect(parts.at(-1)).toEqual({ type: "object", object: { title: "two words", words: ["a", "b"] } });
});

test("an answer that does not fit is tried once more", async () => {
  const parts = await (await stream('{"title": "a"} then {"title": "a", "words": []}')).rest();
  expect(parts.at(-1)).toEqual({ type: "object", object: { title: "a", words: [] } });
});

test("one that still does not fit ends with an error", async () => {
  const parts = await (await stream('{"title": 7}')).rest();
  expect(parts.at(-1)).toMatchObject({
    type: "error",
    error: expect.stringMatching(/^The model's reply does not fit the schema: /),
  });
});

test("a provider that fails or breaks off ends with an error in safe words", async () => {
  for (const [agent, input, error] of [
    ["failing", "429", "The model provider is busy, try again later"],
    ["cut", "x", "The model provider failed to answer"],
  ] as const) {
    const parts = await (await stream(input, agent)).rest();
    expect(parts.at(-1)).toEqual({ type: "error", error });
    expect(JSON.stringify(parts)).not.toContain("hunter2");
  }
});

test("a client that goes away stops the model", async () => {
  const reader = await stream("dropped-object", "held");
  await gates.arrival("dropped-object");
  await reader.drop();
  await expect.poll(() => aborted).toContain("dropped-object");
});

test("a schema that is none is an envelope and no stream", async () => {
  const answer = await server.post("/agents/object/stream-object", { input: "x", schema: { type: "date" } });
  expect(errorOf(answer, 400)).toBe("Invalid schema: schema.type: expected a type or an array of types");
});
