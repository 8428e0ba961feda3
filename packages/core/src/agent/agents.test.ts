// The registered agents as a host calls them: objects of a library's schema and of a JSON Schema.
import { tool } from "ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { controlledModel, type ScriptedModel } from "../../test/support/controlled-model.ts";
import { allInTime } from "../../test/support/in-time.ts";
import { wrapStore } from "../../test/support/wrapped-store.ts";
import { createAndante } from "../andante/create-andante.ts";
import { createLogger } from "../observe/log/create-logger.ts";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { TestClock } from "../test-kit/test-clock.ts";
import { Agent } from "./agent.ts";

/** Gives these replies, one for each call; the last one again when there are more calls. */
const saying = (...replies: readonly string[]) =>
  controlledModel((_, number) => ({ text: [replies[Math.min(number, replies.length) - 1] ?? ""] }));

const all = <T>(items: AsyncIterable<T>) => allInTime(items, "the end of the reply");

function andanteWith(model: ScriptedModel, store: Store = memoryStore()) {
  const agents = { writer: new Agent({ id: "writer", model }) };
  const andante = createAndante({ agents, store, logger: createLogger({ level: "silent" }) });
  onTestFinished(() => andante.close({ grace: 0 }));
  return andante;
}

const agentsWith = (model: ScriptedModel) => andanteWith(model).agents;

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

  test("streamed, the last part is the output of the schema", async () => {
    const agents = agentsWith(saying('{"n": "one"}', '{"n": 2}'));
    const parts = await all(await agents.streamObject("writer", "count", schema));
    expect(parts).toContainEqual({ type: "object-delta", object: { n: "one" } });
    expect(parts.at(-1)).toEqual({ type: "object", object: { n: 2, word: "none" } });
  });

  test("the text before a tool ran is not part of it", async () => {
    const model = controlledModel((_, number) =>
      number === 1 ? { text: ["Let me see"], calls: [{ name: "look", input: {} }] } : { text: ['{"n": 2}'] },
    );
    const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
    const writer = new Agent({ id: "writer", model, tools: { look } });
    const logger = createLogger({ level: "silent" });
    const andante = createAndante({ agents: { writer }, store: memoryStore(), logger });
    onTestFinished(() => andante.close({ grace: 0 }));
    const parts = await all(await andante.agents.streamObject("writer", "count", schema));
    expect(parts.at(-1)).toEqual({ type: "object", object: { n: 2, word: "none" } });
    expect(model.asked).toHaveLength(2);
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

test("a second reply that could not be kept at once is kept after a restart, not the first one that did not fit", async () => {
  const store = memoryStore();
  await store.open();
  onTestFinished(() => store.close());
  let fails = true;
  const endTurn: typeof store.endTurn = async (end) => {
    if (!fails) return store.endTurn(end);
    fails = false;
    throw new Error("the disk is busy");
  };
  const replies = ['{"n": "one"}', '{"n": 2}'];
  const andante = andanteWith(saying(...replies), wrapStore(store, { endTurn }));
  const options = { conversationId: "c" };
  const schema = z.object({ n: z.number() });
  const parts = await all(await andante.agents.streamObject("writer", "count", schema, options));
  expect(parts.at(-1)).toMatchObject({ type: "error" });
  expect(fails).toBe(false);
  await andante.close({ grace: 0 });
  const next = andanteWith(saying(...replies), wrapStore(store));
  const last = async () => (await next.conversations.messages("c")).messages.at(-1);
  await expect
    .poll(last)
    .toMatchObject({ role: "assistant", parts: [{ type: "step-start" }, { text: '{"n": 2}' }] });
});

test("a call that does not fit its tool is shown without the words of the AI SDK", async () => {
  const model = controlledModel((_, number) =>
    number === 1 ? { calls: [{ name: "add", input: { a: "one" } }] } : { text: ["sorry"] },
  );
  const add = tool({ inputSchema: z.object({ a: z.number() }), execute: ({ a }) => a });
  const agents = { writer: new Agent({ id: "writer", model, tools: { add } }) };
  const andante = createAndante({ agents, store: memoryStore(), logger: createLogger({ level: "silent" }) });
  onTestFinished(() => andante.close({ grace: 0 }));
  const parts = await all(await andante.agents.stream("writer", "add"));
  expect(parts.find(({ type }) => type === "tool-call")).toMatchObject({
    toolName: "add",
    invalid: true,
    error: "The call is not valid",
  });
});

test("a conversation is named by its first words, without the space around and between them", async () => {
  const andante = andanteWith(saying("hello"));
  await andante.agents.text("writer", "  hello \n  world ", { conversationId: "c" });
  expect((await andante.conversations.read("c")).title).toBe("hello world");
});

test("a reader that leaves a stream makes room for the next reply", async () => {
  const agents = { writer: new Agent({ id: "writer", model: saying("one two") }) };
  const logger = createLogger({ level: "silent" });
  const andante = createAndante({ agents, store: memoryStore(), logger, limits: { agentReplies: 1 } });
  onTestFinished(() => andante.close({ grace: 0 }));
  const parts = await andante.agents.stream("writer", "count");
  await parts.next();
  await expect(andante.agents.text("writer", "count")).rejects.toMatchObject({ code: "reply-limit" });
  await parts.return?.();
  expect(await andante.agents.text("writer", "count")).toMatchObject({ text: "one two" });
});

test("conversations are dated by the clock of their Andante", async () => {
  const clock = new TestClock({ start: new Date("2000-01-01T00:00:00Z") });
  const agents = { writer: new Agent({ id: "writer", model: saying("hello") }) };
  const logger = createLogger({ level: "silent" });
  const andante = createAndante({ agents, store: memoryStore(), clock, logger });
  onTestFinished(() => andante.close({ grace: 0 }));
  await andante.agents.text("writer", "hi", { conversationId: "c" });
  const { messages } = await andante.conversations.messages("c");
  expect(messages.map(({ createdAt }) => createdAt)).toEqual([
    "2000-01-01T00:00:00.000Z",
    "2000-01-01T00:00:00.000Z",
  ]);
  clock.advance("1h");
  const { updatedAt } = await andante.conversations.rename("c", "Greetings");
  expect(updatedAt).toBe("2000-01-01T01:00:00.000Z");
});

test("a context that is not JSON is refused by name, before the model is asked", async () => {
  const model = saying("hello");
  const refused = agentsWith(model).text("writer", "hi", { context: { count: 1n } });
  await expect(refused).rejects.toMatchObject({ status: 400, code: "invalid-option" });
  await expect(refused).rejects.toThrow(/^Invalid option context: /);
  expect(model.asked).toHaveLength(0);
});
