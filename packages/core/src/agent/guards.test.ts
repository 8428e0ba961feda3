// Bounds and refusals of replies: budgets, hooks, busy providers, outputs of client tools, and two tabs.
import { APICallError } from "@ai-sdk/provider";
import { tool, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { createAndante } from "../andante/create-andante.ts";
import { PublicError } from "../errors/index.ts";
import { createLogger } from "../observe/log/create-logger.ts";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import { RecordingLogger } from "../test-kit/recording-logger.ts";
import { type ScriptedReply, scriptedModel } from "../test-kit/scripted-model.ts";
import { createWorkflow } from "../workflow/create-workflow.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./call/agent-options.ts";

const logger = createLogger({ level: "silent" });
const ran: string[] = [];
const ping = tool({ inputSchema: z.object({}), execute: () => ran.push("ping") });
const asksPing = { text: "one two", toolCalls: [{ toolName: "ping" }] };

async function withAgent(
  script: readonly ScriptedReply[],
  options: Partial<AgentOptions>,
  use: (andante: ReturnType<typeof createAndante>, model: ReturnType<typeof scriptedModel>) => unknown,
): Promise<void> {
  const model = scriptedModel(script);
  const agent = new Agent({ id: "a", model, maxRetries: 0, tools: { ping }, ...options });
  const workflow = createWorkflow({ id: "w", input: z.object({}) }).andAgent({
    id: "ask",
    agent,
    prompt: "p",
  });
  const andante = createAndante({ agents: { agent }, workflows: { workflow }, store: memoryStore(), logger });
  try {
    await use(andante, model);
  } finally {
    await andante.close();
  }
}

const ways = [
  ["without a conversation", undefined],
  ["in a conversation", "c"],
] as const;

const refuse = () => {
  throw new PublicError("Not about that");
};

test.each(ways)("a reply that has used its budget asks no model any more: %s", async (_, conversationId) => {
  for (const budget of [{ calls: 2 }, { tokens: 4 }]) {
    await withAgent([asksPing, asksPing, "never"], { budget }, async ({ agents }, model) => {
      const reply = await agents.text("a", "hi", { conversationId });
      expect([reply.finishReason, reply.steps.length, model.remaining]).toEqual(["tool-calls", 2, 1]);
    });
  }
});

test.each(ways)("its sub-agents call no model any more either: %s", async (_, conversationId) => {
  const asksHelper = { text: "ask", toolCalls: [{ toolName: "helper", input: { prompt: "p" } }] };
  for (const [calls, expected] of [
    [1, 0],
    [3, 2],
    [9, 3],
  ] as const) {
    const helped = scriptedModel([asksPing, asksPing, "found"]);
    const helper = new Agent({ id: "helper", model: helped, tools: { ping }, maxRetries: 0 });
    const options = { budget: { calls }, subAgents: [helper] };
    await withAgent([asksHelper, "done"], options, async ({ agents }, model) => {
      const { text } = await agents.text("a", "hi", { conversationId });
      expect([text, 3 - helped.remaining, model.remaining]).toEqual(
        expected === 3 ? ["done", 3, 0] : ["ask", expected, 1],
      );
    });
  }
});

test.each(ways)("a sub-agent's own budget is for its task alone: %s", async (_, conversationId) => {
  const task = { toolName: "helper", input: { prompt: "p" } };
  const helped = scriptedModel([asksPing, asksPing, "one", asksPing, asksPing, "two"]);
  const budget = { calls: 2 };
  const helper = new Agent({ id: "helper", model: helped, tools: { ping }, maxRetries: 0, budget });
  const script = [asksPing, asksPing, { text: "ask", toolCalls: [task] }, "done"];
  await withAgent(script, { subAgents: [helper] }, async ({ agents }) => {
    expect(await agents.text("a", "hi", { conversationId })).toMatchObject({ text: "done" });
    expect(helped.remaining).toBe(4);
  });
});

test("in a workflow that fails the step, and the error names the budget", async () => {
  await withAgent([asksPing, "never"], { budget: { calls: 1 } }, async (andante) => {
    const { executionId, status } = await andante.execute("w", {});
    const events = await andante.events("w", executionId);
    expect([status, events.find(({ type }) => type === "step-error")?.error]).toMatchObject([
      "error",
      { message: expect.stringContaining("budget") },
    ]);
  });
});

test("a conversation that has used its budget is refused before anything is asked", async () => {
  const budget = { conversation: { calls: 1 } };
  await withAgent(["one", "two"], { budget }, async ({ agents, conversations }, model) => {
    await agents.text("a", "hi", { conversationId: "c" });
    await expect(agents.text("a", "more", { conversationId: "c" })).rejects.toMatchObject({
      code: "budget-reached",
      status: 403,
    });
    expect(model.remaining).toBe(1);
    expect((await conversations.messages("c")).messages).toHaveLength(2);
    await agents.text("a", "hi", { conversationId: "other" });
  });
});

test.each(ways)("onStart refuses before the model is asked: %s", async (_, conversationId) => {
  await withAgent(["never"], { hooks: { onStart: refuse } }, async ({ agents }, model) => {
    await expect(agents.text("a", "hi", { conversationId })).rejects.toMatchObject({
      code: "reply-refused",
      status: 403,
      message: "Not about that",
    });
    expect(model.remaining).toBe(1);
  });
});

test.each(ways)("onToolStart refuses a call, and the model reads why: %s", async (_, conversationId) => {
  ran.length = 0;
  await withAgent([asksPing, "done"], { hooks: { onToolStart: refuse } }, async ({ agents }, model) => {
    expect((await agents.text("a", "hi", { conversationId })).text).toBe("done");
    expect(ran).toEqual([]);
    expect(JSON.stringify(model.calls[1]?.prompt.at(-1))).toContain("Not about that");
  });
});

test.each(ways)("onEnd refuses a reply, and nothing of it is kept: %s", async (_, conversationId) => {
  const hooks = { onEnd: refuse };
  await withAgent(["secret", "secret"], { hooks }, async ({ agents, conversations }) => {
    await expect(agents.text("a", "hi", { conversationId })).rejects.toMatchObject({ code: "reply-refused" });
    const chunks = [];
    for await (const chunk of await agents.chat("a", "ho", { conversationId })) chunks.push(chunk);
    expect(chunks.at(-1)).toEqual({ type: "error", errorText: "Not about that" });
    if (conversationId === undefined) return;
    const { messages } = await conversations.messages(conversationId);
    expect(messages.map(({ role }) => role)).toEqual(["user", "user"]);
    expect((await conversations.read(conversationId)).usage.calls).toBe(2);
  });
});

test("onEnd receives complete replies with all their usage, and not failed ones", async () => {
  const told: unknown[] = [];
  const hooks: AgentOptions["hooks"] = {
    onEnd: ({ text, usage }) => told.push([text, usage.calls]),
    onError: () => told.push("error"),
  };
  const script = [asksPing, "done", { text: "half", error: new Error("boom") }];
  await withAgent(script, { hooks }, async ({ agents }) => {
    const read = async () => {
      for await (const _ of await agents.stream("a", "hi"));
    };
    await read();
    await read();
    expect(told).toEqual([["done", 2], "error"]);
  });
});

test("a hook that throws is logged by its name, and the reply continues", async () => {
  const lines = new RecordingLogger();
  const fail = () => {
    throw new Error("broken");
  };
  const hooks = { onStart: fail, onStepEnd: fail, onToolStart: fail, onToolEnd: fail, onEnd: fail };
  const model = scriptedModel([asksPing, "done"]);
  const agent = new Agent({ id: "a", model, tools: { ping }, hooks });
  const andante = createAndante({ agents: { agent }, store: memoryStore(), logger: lines });
  expect(await andante.agents.text("a", "hi")).toMatchObject({ text: "done" });
  const failed = lines.of("warn").filter(({ msg }) => msg === "a hook of the agent failed");
  expect(failed.map(({ hook }) => hook)).toEqual([
    "onStart",
    "onToolStart",
    "onToolEnd",
    "onStepEnd",
    "onStepEnd",
    "onEnd",
  ]);
  await andante.close();
});

test("a provider's 429 is 503 with its Retry-After", async () => {
  const busy = new APICallError({
    message: "slow down",
    url: "http://provider.example",
    requestBodyValues: {},
    statusCode: 429,
    responseHeaders: { "retry-after": "17" },
    isRetryable: false,
  });
  await withAgent([busy], {}, async ({ agents }) => {
    const text = agents.text("a", "hi");
    await expect(text).rejects.toMatchObject({ code: "model-busy", status: 503, retryAfter: 17 });
  });
});

test.each(ways)("the output of a client's tool must fit its schema: %s", async (_, conversationId) => {
  const locate = tool({ inputSchema: z.object({}), outputSchema: z.object({ city: z.string() }) });
  const script = [{ toolCalls: [{ toolName: "locate", toolCallId: "l" }] }, "done"];
  await withAgent(script, { tools: { locate } }, async ({ agents }) => {
    const ask: UIMessage = { id: "u", role: "user", parts: [{ type: "text", text: "Where?" }] };
    let messageId = "m";
    for await (const chunk of await agents.chat("a", [ask], { conversationId }))
      if (chunk.type === "start") messageId = chunk.messageId ?? messageId;
    const told = (output: unknown) => ({
      id: messageId,
      role: "assistant",
      parts: [{ type: "tool-locate", toolCallId: "l", state: "output-available", input: {}, output }],
    });
    await expect(agents.text("a", [ask, told("Bern")], { conversationId })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("the output of tool locate does not fit its schema"),
    });
    const reply = await agents.text("a", [ask, told({ city: "Bern" })], { conversationId });
    expect(reply.text).toBe("done");
  });
});

test("regenerating deletes nothing newer, unless it names the reply that it means", async () => {
  await withAgent(["one", "two", "three"], {}, async ({ agents, conversations }) => {
    const user = (id: string) => ({ id, role: "user", parts: [{ type: "text", text: id }] });
    const chat = async (id: string, options: object) => {
      for await (const _ of await agents.chat("a", [user(id)], { conversationId: "c", ...options }));
    };
    await chat("u1", {});
    const [, first] = (await conversations.messages("c")).messages;
    await chat("u2", {});
    await expect(chat("u1", { again: true })).rejects.toMatchObject({ status: 409 });
    expect((await conversations.messages("c")).messages).toHaveLength(4);
    await chat("u1", { again: true, replaces: first?.id });
    expect((await conversations.messages("c")).messages).toHaveLength(2);
  });
});
