// Sub-agents: their text and tools show as they happen, they are stopped with the reply, and their usage counts.
import { tool, type UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../test/support/controlled-model.ts";
import { allInTime, inTime } from "../../test/support/in-time.ts";
import { createAndante } from "../andante/create-andante.ts";
import { createLogger } from "../observe/log/create-logger.ts";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import { scriptedModel } from "../test-kit/scripted-model.ts";
import { Agent } from "./agent.ts";

const logger = createLogger({ level: "silent" });
const task = { toolCalls: [{ toolName: "researcher", toolCallId: "t", input: { prompt: "Find it" } }] };

const chunksOf = (chunks: AsyncIterable<UIMessageChunk>) => allInTime(chunks, "the end of the reply");

test.each([
  ["without a conversation", undefined],
  ["in a conversation", "c"],
])(
  "its text and its tools are preliminary results, its text alone is the last: %s",
  async (_, conversationId) => {
    const long = Array.from({ length: 30 }, (_, index) => `word${index} `);
    const look = tool({ inputSchema: z.object({ at: z.string() }), execute: () => "seen" });
    const researcher = new Agent({
      id: "researcher",
      model: scriptedModel([
        { toolCalls: [{ toolName: "look", toolCallId: "l", input: { at: "sea" } }] },
        { text: long },
      ]),
      tools: { look },
    });
    const model = scriptedModel([task, "done"]);
    const editor = new Agent({ id: "editor", model, subAgents: [researcher] });
    const andante = createAndante({ agents: { editor }, store: memoryStore(), logger });
    const chunks = await chunksOf(await andante.agents.chat("editor", "Go", { conversationId }));
    const outputs = chunks.filter(({ type }) => type === "tool-output-available");
    const call = { toolCallId: "l", toolName: "look", input: { at: "sea" } };
    expect(outputs.slice(0, 2)).toMatchObject([
      { preliminary: true, output: { text: "", toolCalls: [{ ...call, state: "running" }] } },
      { preliminary: true, output: { text: "", toolCalls: [{ ...call, state: "done" }] } },
    ]);
    const texts = outputs.slice(2, -2).map((chunk) => ("output" in chunk ? Object(chunk.output).text : ""));
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.every((text) => long.join("").startsWith(text))).toBe(true);
    expect(outputs.at(-1)).toMatchObject({ output: long.join("") });
    expect(outputs.at(-1)).not.toHaveProperty("preliminary");
    expect(JSON.stringify(model.calls[1]?.prompt.at(-1))).toContain("word29");
    if (conversationId !== undefined)
      expect((await andante.conversations.read(conversationId)).usage.calls).toBe(4);
    await andante.close();
  },
);

test("the model sees it as a tool with its purpose, which takes a prompt", async () => {
  const model = scriptedModel(["done", "done"]);
  const below = (id: string, purpose?: string) =>
    new Agent({ id, model: scriptedModel([]), ...(purpose && { purpose }) });
  const subAgents = [below("researcher", "Finds things."), below("writer")];
  const editor = new Agent({ id: "editor", model, subAgents });
  const andante = createAndante({ agents: { editor }, store: memoryStore(), logger });
  await andante.agents.text("editor", "Go");
  const inputSchema = {
    type: "object",
    properties: { prompt: { type: "string", description: "The task, with everything needed to do it." } },
    required: ["prompt"],
    additionalProperties: false,
  };
  expect(model.calls[0]?.tools).toMatchObject([
    { name: "researcher", description: "Finds things.", inputSchema },
    { name: "writer", description: "Gives a task to the agent writer.", inputSchema },
  ]);
  await andante.close();
  const writer = tool({ inputSchema: z.object({}), execute: () => "done" });
  expect(() => new Agent({ id: "editor", model, subAgents, tools: { writer } })).toThrow(
    'Agent "editor": a tool and a sub-agent are both called "writer"',
  );
});

test("one that its own timeout stops fails its tool, and the reply continues", async () => {
  const researcher = new Agent({
    id: "researcher",
    timeout: { totalMs: 20 },
    model: controlledModel(() => ({
      text: ["a", "b"],
      hold: (piece) => (piece === 0 ? undefined : new Promise(() => undefined)),
    })),
  });
  const model = scriptedModel([task, "done"]);
  const editor = new Agent({ id: "editor", model, subAgents: [researcher] });
  const andante = createAndante({ agents: { editor }, store: memoryStore(), logger });
  const chunks = await chunksOf(await andante.agents.chat("editor", "Go"));
  expect(JSON.stringify(model.calls.at(-1)?.prompt)).toContain(
    "The reply took longer than the agent's timeout",
  );
  expect(chunks).toContainEqual(expect.objectContaining({ type: "tool-output-error", toolCallId: "t" }));
  expect(chunks).toContainEqual(expect.objectContaining({ type: "text-delta", delta: "done" }));
  await andante.close();
});

test("one whose model fails fails its tool, the model above reads why, and the reply continues", async () => {
  const refuse = new Error("the well is dry");
  const researcher = new Agent({
    id: "researcher",
    model: controlledModel(() => ({ refuse })),
    maxRetries: 0,
  });
  const model = scriptedModel([task, "done"]);
  const editor = new Agent({ id: "editor", model, subAgents: [researcher] });
  const andante = createAndante({ agents: { editor }, store: memoryStore(), logger });
  expect((await andante.agents.text("editor", "Go")).text).toBe("done");
  expect(JSON.stringify(model.calls.at(-1)?.prompt)).toContain("the well is dry");
  await andante.close();
});

test.each([{}, { prompt: 1 }, { prompt: null }, [], "Find it", null])(
  "a task of %j is refused, and the model above reads why",
  async (input) => {
    const helper = scriptedModel(["never asked"]);
    const researcher = new Agent({ id: "researcher", model: helper });
    const call = { toolName: "researcher", toolCallId: "t", input };
    const model = scriptedModel([{ toolCalls: [call] }, "done"]);
    const editor = new Agent({ id: "editor", model, subAgents: [researcher] });
    const andante = createAndante({ agents: { editor }, store: memoryStore(), logger });
    expect((await andante.agents.text("editor", "Go")).text).toBe("done");
    expect(helper.calls).toEqual([]);
    expect(JSON.stringify(model.calls.at(-1)?.prompt)).toContain("Invalid input for tool researcher");
    await andante.close();
  },
);

test("it is stopped with the reply that asked it", async () => {
  const begun = Promise.withResolvers<AbortSignal | undefined>();
  const researcher = new Agent({
    id: "researcher",
    model: controlledModel(() => ({
      text: ["a", "b"],
      hold: (piece, signal) => {
        if (piece === 0) return undefined;
        begun.resolve(signal);
        return new Promise(() => undefined);
      },
    })),
  });
  const editor = new Agent({ id: "editor", model: scriptedModel([task]), subAgents: [researcher] });
  const andante = createAndante({ agents: { editor }, store: memoryStore(), logger });
  const reading = chunksOf(await andante.agents.chat("editor", "Go", { conversationId: "c" }));
  const signal = await begun.promise;
  await inTime(andante.agents.stop("editor", "c"), "the end of what was stopped");
  expect(signal?.aborted).toBe(true);
  expect((await reading).at(-1)).toMatchObject({ type: "abort" });
  await andante.close();
});
