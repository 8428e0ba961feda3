// Reported tokens: cached and reasoning ones too, of every reply, also one that failed or was stopped.
import { ToolLoopAgent, type ToolSet, tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { controlledModel, type Said } from "../support/controlled-model.ts";
import { openStore, startProcess } from "./processes.ts";

const usage = { input: 10, output: 5, cached: 4, reasoning: 2 };
const one = {
  inputTokens: 10,
  outputTokens: 5,
  totalTokens: 15,
  calls: 1,
  cachedInputTokens: 4,
  reasoningTokens: 2,
  inputTokenDetails: { cacheReadTokens: 4 },
  outputTokenDetails: { reasoningTokens: 2 },
};
const two = {
  inputTokens: 20,
  outputTokens: 10,
  totalTokens: 30,
  calls: 2,
  cachedInputTokens: 8,
  reasoningTokens: 4,
  inputTokenDetails: { cacheReadTokens: 8 },
  outputTokenDetails: { reasoningTokens: 4 },
};
const talk = { conversationId: "talk", userId: "ada" };
const look = tool({ inputSchema: z.object({}), execute: () => "seen" });

/** Calls `name` first, and then replies with `last`. */
const caller = (name: string, last: Said = { text: ["done"] }) =>
  controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? { usage, ...last } : { calls: [{ name, input: {} }], usage },
  );

/** Hands a task to the agent `helper` first, and then replies with `last`. */
const delegating = (last: Said = {}) =>
  controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? { text: ["done"], usage, ...last }
      : { calls: [{ name: "helper", input: { prompt: "help" } }], usage },
  );

/** Makes no progress until it is stopped. */
function standstill() {
  const reached = Promise.withResolvers<void>();
  const hold = (_: number, signal: AbortSignal | undefined) => {
    reached.resolve();
    return new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
  };
  return { hold, reached: reached.promise };
}

test("of a reply, of each of its steps, and of the conversation", async () => {
  const { andante } = startProcess(await openStore(), { model: caller("look"), tools: { look } });
  const plain = await andante.agents.text("clerk", "go");
  expect(plain.usage).toEqual(two);
  const { calls: _, ...step } = one;
  expect(plain.steps.map((each) => each.usage)).toEqual([step, step]);
  expect((await andante.agents.text("clerk", "go", talk)).usage).toEqual(two);
  expect((await andante.conversations.read("talk")).usage).toEqual(two);
});

test("of replies that failed and that were stopped", async () => {
  const failing = startProcess(await openStore(), {
    model: caller("look", { refuse: new Error("broken") }),
    tools: { look },
  });
  await expect(failing.andante.agents.text("clerk", "go", talk)).rejects.toThrow();
  expect((await failing.andante.conversations.read("talk")).usage).toEqual(one);
  const began = Promise.withResolvers<void>();
  const wait = tool({
    inputSchema: z.object({}),
    execute: (_, { abortSignal }) => {
      began.resolve();
      return new Promise((_, reject) =>
        abortSignal?.addEventListener("abort", () => reject(abortSignal.reason)),
      );
    },
  });
  const { andante } = startProcess(await openStore(), { model: caller("wait"), tools: { wait } });
  const chat = await andante.agents.chat("clerk", "go", talk);
  await began.promise;
  expect(await andante.agents.stop("clerk", "talk", { userId: "ada" })).toBe(true);
  for await (const _ of chat);
  expect((await andante.conversations.read("talk")).usage).toEqual(one);
});

test("of sub-agents of any make, and of an execution", async () => {
  const helper = new ToolLoopAgent({ id: "helper", model: controlledModel(() => ({ text: ["hi"], usage })) });
  const model = delegating();
  const agent = new Agent({ id: "clerk", model, subAgents: [helper] });
  const three = { ...two, inputTokens: 30, outputTokens: 15, totalTokens: 45, calls: 3 };
  const all = {
    ...{ ...three, cachedInputTokens: 12, reasoningTokens: 6 },
    ...{ inputTokenDetails: { cacheReadTokens: 12 }, outputTokenDetails: { reasoningTokens: 6 } },
  };
  const chat = startProcess(await openStore(), { model, agent: { subAgents: [helper] } }).andante;
  expect((await chat.agents.text("clerk", "go", talk)).usage).toEqual(all);
  expect((await chat.conversations.read("talk")).usage).toEqual(all);
  const asking = (id: string, asked: Agent) =>
    createWorkflow({ id, input: z.object({}) }).andAgent({ id: "ask", agent: asked, prompt: "go" });
  const plain = new Agent({ id: "plain", model: caller("look"), tools: { look } });
  const workflows = { alone: asking("alone", plain), helped: asking("helped", agent) };
  const andante = createAndante({ agents: { agent }, workflows, store: memoryStore() });
  expect((await andante.execute("alone", {})).usage).toEqual(two);
  expect((await andante.execute("helped", {})).usage).toEqual(all);
  await andante.close();
});

test("of a sub-agent of another make that was stopped on its way", async () => {
  const { hold, reached } = standstill();
  const model = caller("look", { text: ["never"], hold });
  const tools: ToolSet = { look };
  const helper = new ToolLoopAgent({ id: "helper", model, tools });
  const { andante } = startProcess(await openStore(), {
    model: delegating(),
    agent: { subAgents: [helper] },
  });
  const chat = await andante.agents.chat("clerk", "go", talk);
  await reached;
  expect(await andante.agents.stop("clerk", "talk", { userId: "ada" })).toBe(true);
  for await (const _ of chat);
  expect((await andante.conversations.read("talk")).usage).toEqual(two);
});

test("of a sub-agent of another make that had replied before a crash", async () => {
  const store = await openStore();
  const helper = new ToolLoopAgent({ id: "helper", model: controlledModel(() => ({ text: ["hi"], usage })) });
  const { hold, reached } = standstill();
  const first = startProcess(store, { model: delegating({ hold }), agent: { subAgents: [helper] } });
  await first.andante.agents.chat("clerk", "go", talk);
  await reached;
  await first.end();
  const ended = Promise.withResolvers<unknown>();
  const hooks = { onEnd: ({ usage }: { readonly usage: unknown }) => ended.resolve(usage) };
  const second = startProcess(store, { model: delegating(), agent: { subAgents: [helper], hooks } });
  await second.andante.ready();
  expect(await ended.promise).toMatchObject({ calls: 3, totalTokens: 45 });
  await expect.poll(() => second.andante.conversations.read("talk")).toMatchObject({ usage: { calls: 3 } });
});

test.each([
  ["a reply", { text: ["x".repeat(5000)], usage }],
  ["a call", { calls: [{ name: "look", input: { text: "x".repeat(5000) } }], usage }],
])("of %s that is too large to be recorded", async (_, said) => {
  const agents = { clerk: new Agent({ id: "clerk", model: controlledModel(() => said), tools: { look } }) };
  const andante = createAndante({ agents, store: memoryStore(), limits: { output: 2000 } });
  onTestFinished(() => andante.close());
  await expect(andante.agents.text("clerk", "go", talk)).rejects.toThrow("the limit is 2000");
  expect((await andante.conversations.read("talk")).usage).toEqual(one);
});

test("a provider that reports fractions is counted in whole tokens, and its reply is kept", async () => {
  const said = [
    { text: ["one"], usage: { input: 1.5, output: 5 } },
    { text: ["two"], usage: { input: 0.2, output: 2.4 } },
  ];
  const model = controlledModel((_, count) => said[count - 1] ?? { text: ["three"] });
  const { andante } = startProcess(await openStore(), { model });
  for (const { text } of said)
    expect(await andante.agents.text("clerk", "go", talk)).toMatchObject({ text: text[0] });
  const { usage: counted } = await andante.conversations.read("talk");
  expect(counted).toEqual({ inputTokens: 2, outputTokens: 7, totalTokens: 9, calls: 2 });
  const { messages } = await andante.conversations.messages("talk");
  expect(messages).toHaveLength(4);
});
