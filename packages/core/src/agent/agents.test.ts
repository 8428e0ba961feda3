// The registered agents as a host calls them: objects of a library's schema and of a JSON Schema.
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type ScriptedModel, scriptedModel } from "../../test/support/scripted-model.ts";
import { createAndante } from "../andante/create-andante.ts";
import { createLogger } from "../observe/log/logger.ts";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import { Agent } from "./agent.ts";

/** Gives these replies, one for each call; the last one again when there are more calls. */
const saying = (...replies: readonly string[]) =>
  scriptedModel((_, number) => ({ text: [replies[Math.min(number, replies.length) - 1] ?? ""] }));

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function agentsWith(model: ScriptedModel) {
  const agents = { writer: new Agent({ id: "writer", model }) };
  const andante = createAndante({ agents, store: memoryStore(), logger: createLogger({ level: "silent" }) });
  onTestFinished(() => andante.close({ grace: 0 }));
  return andante.agents;
}

describe("an object of a library's schema", () => {
  const schema = z.object({ n: z.number(), word: z.string().default("none") });

  test("the model is shown it as JSON Schema, and its own check decides", async () => {
    const model = saying('{"n": "not a number"}', '{"n": 2}');
    expect(await agentsWith(model).object("writer", "count", schema)).toEqual({ n: 2, word: "none" });
    expect(model.asked).toHaveLength(2);
    expect(model.asked[0]?.responseFormat).toMatchObject({
      type: "json",
      schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    });
  });

  test("one that never fits is refused in the library's words", async () => {
    const agents = agentsWith(saying('{"n": "not a number"}'));
    await expect(agents.object("writer", "count", schema)).rejects.toThrow(/does not fit the schema: n: /);
  });

  test("streamed, the last part is what the schema makes of the reply", async () => {
    const agents = agentsWith(saying('{"n": "one"}', '{"n": 2}'));
    const parts = await all(await agents.streamObject("writer", "count", schema));
    expect(parts).toContainEqual({ type: "object-delta", object: { n: "one" } });
    expect(parts.at(-1)).toEqual({ type: "object", object: { n: 2, word: "none" } });
  });

  test("a library that cannot describe its schema as JSON Schema is refused before the model is asked", async () => {
    const model = saying("{}");
    const silent = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } };
    await expect(agentsWith(model).object("writer", "count", silent)).rejects.toThrow(
      "The schema of the object: not a Standard Schema with JSON Schema",
    );
    expect(model.asked).toHaveLength(0);
  });
});

test("JSON that only looks like a library's schema is a JSON Schema", async () => {
  const schema = { type: "object", required: ["n"], "~standard": { validate: "no function" } };
  expect(await agentsWith(saying("{}", '{"n": 1}')).object("writer", "count", schema)).toEqual({ n: 1 });
});
