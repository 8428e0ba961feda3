// The first impression: a newcomer's questions, through a real agent of Andante.
import { Agent, createAndante, createLogger, createWorkflow, memoryStore } from "@andante/core";
import { ToolLoopAgent, tool } from "ai";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { demoModel } from "./demo-model.ts";

const model = demoModel();
const writer = new Agent({
  id: "writer",
  purpose: "Writes short posts",
  model,
  instructions: "Write one paragraph.",
});
const assistant = new Agent({
  id: "assistant",
  model,
  instructions: "You are a helpful assistant. Answer in one or two sentences.",
  tools: {
    clock: tool({
      description: "Tells the time",
      inputSchema: z.object({}),
      execute: () => "2026-11-15T09:30:00.000Z",
    }),
  },
  subAgents: [writer],
});
const foreign = new ToolLoopAgent({ id: "foreign", model });
const schema = z.object({ title: z.string(), words: z.number().int() });
const title = createWorkflow({ id: "title", input: z.object({ topic: z.string() }) }).andAgent({
  id: "ask",
  agent: foreign,
  prompt: ({ data }) => `Write about ${data.topic}`,
  schema,
});
const andante = createAndante({
  agents: { assistant },
  workflows: { title },
  store: memoryStore(),
  logger: createLogger({ level: "silent" }),
});
afterAll(() => andante.close());

test("“Hello! What can you do?” describes the agent and its tools", async () => {
  const { text, toolCalls } = await andante.agents.text("assistant", "Hello! What can you do?");
  expect(text).toBe(
    "Hello! I am a helpful assistant. My instructions: “Answer in one or two sentences.” " +
      "I can use clock (tells the time) and writer (writes short posts): just ask. " +
      "(I am an offline demo model: I reply by simple rules.)",
  );
  expect(toolCalls).toEqual([]);
});

test("“What time is it?” calls the clock and replies with its output", async () => {
  const { text, steps } = await andante.agents.text("assistant", "What time is it?");
  expect(steps.flatMap((step) => step.toolCalls.map((call) => call.toolName))).toEqual(["clock"]);
  expect(text).toBe("According to the clock tool: 2026-11-15T09:30:00.000Z.");
});

test("“Write about rivers” goes to the sub-agent that writes", async () => {
  const { text } = await andante.agents.text("assistant", "Write about rivers");
  expect(text).toMatch(/^According to the writer tool: There is more to rivers than/);
});

test("an AI SDK agent in a workflow gives an object for a schema", async () => {
  const { result } = await andante.execute("title", { topic: "rivers" });
  expect(schema.parse(result)).toMatchObject({ title: "Rivers" });
});
