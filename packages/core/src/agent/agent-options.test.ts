// The options of an agent beside model and tools, as in the AI SDK: each reaches the model or the loop.
import { setTimeout as later } from "node:timers/promises";
import { Output, stepCountIs, streamText, tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../test/support/controlled-model.ts";
import { allInTime, inTime } from "../../test/support/in-time.ts";
import { createAndante } from "../andante/create-andante.ts";
import { AgentFunctionError, ObjectMismatchError, ReplyTimeoutError } from "../errors/index.ts";
import { createLogger } from "../observe/log/create-logger.ts";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import { type ScriptedReply, scriptedModel } from "../test-kit/scripted-model.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./call/agent-options.ts";

const logger = createLogger({ level: "silent" });

async function withAgent(
  script: readonly ScriptedReply[],
  options: Partial<AgentOptions>,
  use: (
    agents: ReturnType<typeof createAndante>["agents"],
    model: ReturnType<typeof scriptedModel>,
  ) => unknown,
): Promise<void> {
  const model = scriptedModel(script);
  const agent = new Agent({ id: "a", model, maxRetries: 0, ...options });
  const andante = createAndante({ agents: { agent }, store: memoryStore(), logger });
  onTestFinished(() => andante.close({ grace: 0 }));
  await use(andante.agents, model);
}

const ways = [
  ["without a conversation", undefined],
  ["in a conversation", "c"],
] as const;

const boom = () => {
  throw new Error("boom");
};
const ping = tool({ inputSchema: z.object({}), execute: () => "pong" });
const asksPing = { toolCalls: [{ toolName: "ping" }] };

test.each(ways)(
  "model, tools and instructions may be functions of the operation: %s",
  async (_, conversationId) => {
    const ada = scriptedModel([{ toolCalls: [{ toolName: "greet" }] }, "done"]);
    const seen: unknown[] = [];
    const options: Partial<AgentOptions> = {
      model: ({ userId }) => (userId === "ada" ? ada : scriptedModel([])),
      tools: async ({ userId }) => ({
        greet: tool({ inputSchema: z.object({}), execute: () => seen.push(`hello ${userId}`) }),
      }),
      instructions: ({ userId }) => ({
        role: "system",
        content: `You help ${userId}.`,
        providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
      }),
    };
    await withAgent([], options, async (agents) => {
      const reply = await agents.text("a", "hi", { userId: "ada", conversationId });
      expect(reply.text).toBe("done");
      expect(seen).toEqual(["hello ada"]);
      expect(ada.calls[0]?.prompt[0]).toEqual({
        role: "system",
        content: "You help ada.",
        providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
      });
      expect(await agents.read("a")).toMatchObject({ model: null, instructions: null, tools: [] });
    });
  },
);

test.each([
  "model",
  "tools",
  "instructions",
  "prepareStep",
  "stopWhen",
  "toolApproval",
  "messageMetadata",
  "convertDataPart",
] as const)("an error thrown by the host's %s is the host's failure, not the provider's", async (option) => {
  const options: Partial<AgentOptions> = { tools: { ping }, [option]: boom };
  await withAgent([asksPing, "done"], options, async (agents) => {
    const parts = [
      { type: "text", text: "hi" },
      { type: "data-place", data: {} },
    ];
    const text = inTime(
      agents.text("a", [{ id: "u", role: "user", parts }], { conversationId: "c" }),
      "the reply",
    );
    await expect(text).rejects.toMatchObject({
      code: "agent-function",
      status: 500,
      message: `The agent's ${option} failed`,
    });
    await expect(text).rejects.toBeInstanceOf(AgentFunctionError);
  });
});

const fileAtAddress = {
  id: "u",
  role: "user",
  parts: [{ type: "file", mediaType: "image/png", url: "https://files.example/a.png" }],
};

test.each<[string, Partial<AgentOptions>, unknown]>([
  ["memory.prepare", { memory: { prepare: boom } }, "hi"],
  ["toolApproval", { tools: { ping }, toolApproval: { ping: boom } }, "hi"],
  ["stopWhen", { tools: { ping }, stopWhen: [stepCountIs(9), boom] }, "hi"],
  // Asked for before the call of the model: which files may stay at their address.
  ["model", { model: boom }, [fileAtAddress]],
])("a failure of the host's %s names the option: %j", async (option, options, input) => {
  await withAgent([asksPing, "done"], options, async (agents) => {
    const text = inTime(agents.text("a", input, { conversationId: "c" }), "the reply");
    await expect(text).rejects.toMatchObject({
      code: "agent-function",
      message: `The agent's ${option} failed`,
    });
  });
});

test.each(ways)(
  "prepareStep changes single steps, and its model is recorded as the agent's own: %s",
  async (_, conversationId) => {
    const other = scriptedModel(["from the other"]);
    const prepareStep: AgentOptions["prepareStep"] = ({ stepNumber, model }) =>
      stepNumber === 0 ? { model, toolChoice: "required" } : { model: other, activeTools: [] };
    await withAgent([asksPing], { tools: { ping }, prepareStep }, async (agents, model) => {
      const reply = await agents.text("a", "hi", { conversationId });
      expect(reply.text).toBe("from the other");
      expect(reply.usage.calls).toBe(2);
      expect(model.calls[0]?.toolChoice).toEqual({ type: "required" });
      expect(other.calls[0]?.tools ?? []).toEqual([]);
    });
  },
);

test.each(ways)(
  "prepareStep's own calls of the agent's model are not part of the reply: %s",
  async (_, conversationId) => {
    const beside: PromiseLike<string>[] = [];
    const prepareStep: AgentOptions["prepareStep"] = async ({ model }) => {
      beside.push(streamText({ model, prompt: "sum up" }).text);
      await beside[0];
      beside.push(streamText({ model, prompt: "a title" }).text);
      return {};
    };
    const script = ["all of it in short", "some title in words", "the reply of some words"];
    await withAgent(script, { prepareStep }, async (agents) => {
      const parts = await allInTime(await agents.stream("a", "hi", { conversationId }), "the reply");
      const text = parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
      expect([...(await Promise.all(beside)), text]).toEqual(script);
    });
  },
);

test("stopWhen ends the loop beside maxSteps, and activeTools selects the tools that the model sees", async () => {
  const options: Partial<AgentOptions> = {
    tools: { ping, hidden: ping },
    activeTools: ["ping"],
    stopWhen: [stepCountIs(2), ({ steps }) => steps.length === 5],
  };
  await withAgent([asksPing, asksPing, "never"], options, async (agents, model) => {
    expect((await agents.text("a", "hi")).steps).toHaveLength(2);
    expect(model.calls[0]?.tools?.map(({ name }) => name)).toEqual(["ping"]);
  });
});

test.each(ways)("repairToolCall mends a call whose input does not fit: %s", async (_, conversationId) => {
  const add = tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n + 1 });
  const options: Partial<AgentOptions> = {
    tools: { add },
    repairToolCall: async ({ toolCall }) => ({ ...toolCall, input: '{"n":1}' }),
  };
  const script = [{ toolCalls: [{ toolName: "add", input: { n: "one" } }] }, "done"];
  await withAgent(script, options, async (agents) => {
    expect((await agents.text("a", "hi", { conversationId })).toolResults).toMatchObject([{ output: 2 }]);
  });
});

test.each(ways)(
  "a reply that takes longer than timeout.totalMs ends with an error that gives the reason: %s",
  async (_, conversationId) => {
    const slow = async ({ abortSignal }: { abortSignal?: AbortSignal | undefined }) => {
      await later(60_000, undefined, { signal: abortSignal }).catch(() => undefined);
      return "late";
    };
    await withAgent([slow], { timeout: { totalMs: 30 } }, async (agents) => {
      const refused: unknown = await agents.text("a", "hi", { conversationId }).catch((error) => error);
      expect(refused).toBeInstanceOf(ReplyTimeoutError);
      // A turn that is kept was ended by then, for this reason alone.
      if (conversationId === undefined)
        expect(refused).toHaveProperty("cause.name", expect.stringMatching(/^(Abort|Timeout)Error$/));
    });
    await withAgent([slow], { timeout: { totalMs: 30 } }, async (agents) => {
      const chunks = [];
      for await (const chunk of await agents.chat("a", "hi", { conversationId })) chunks.push(chunk);
      expect(chunks.at(-1)).toEqual({
        type: "error",
        errorText: "The reply took longer than the agent's timeout",
      });
    });
  },
);

test("a reply whose model falls silent for timeout.chunkMs ends with an error that gives the reason", async () => {
  const model = controlledModel(() => ({
    text: ["half", " never"],
    hold: async (piece, signal) => {
      if (piece === 1) await later(60_000, undefined, { signal }).catch(() => undefined);
    },
  }));
  await withAgent([], { model, timeout: { chunkMs: 30 } }, async (agents) => {
    const chunks = [];
    for await (const chunk of await agents.chat("a", "hi")) chunks.push(chunk);
    expect(chunks.map(({ type }) => type)).toContain("text-delta");
    expect(chunks.at(-1)).toEqual({
      type: "error",
      errorText: "The reply took longer than the agent's timeout",
    });
  });
});

test("a tool is aborted after timeout.toolMs, and the model reads that it failed", async () => {
  const wait = tool({
    inputSchema: z.object({}),
    execute: (_, { abortSignal }) => later(60_000, "late", { signal: abortSignal }),
  });
  const options: Partial<AgentOptions> = { tools: { wait }, timeout: { toolMs: 20, modelMs: 1000 } };
  await withAgent([{ toolCalls: [{ toolName: "wait" }] }, "done"], options, async (agents) => {
    expect(await agents.text("a", "hi")).toMatchObject({ text: "done", toolResults: [] });
  });
});

test.each(ways)("a fixed output is asked for, and read: %s", async (_, conversationId) => {
  const output = Output.object({ schema: z.object({ stars: z.number() }) });
  await withAgent([{ object: { stars: 5 } }, "no stars"], { output }, async (agents, model) => {
    expect((await agents.text("a", "hi", { conversationId })).output).toEqual({ stars: 5 });
    expect(model.calls[0]?.responseFormat).toMatchObject({ type: "json" });
    const mismatch = agents.text("a", "again", { conversationId });
    await expect(mismatch).rejects.toBeInstanceOf(ObjectMismatchError);
  });
});

test("convertDataPart converts data in messages for the model", async () => {
  const message = {
    id: "u",
    role: "user",
    parts: [
      { type: "text", text: "Where?" },
      { type: "data-place", data: { city: "Bern" } },
    ],
  };
  const convertDataPart: AgentOptions["convertDataPart"] = ({ data }) => ({
    type: "text",
    text: JSON.stringify(data),
  });
  for (const [options, said] of [
    [{ convertDataPart }, ["Where?", '{"city":"Bern"}']],
    [{}, ["Where?"]],
  ] as const) {
    await withAgent(["here"], options, async (agents, model) => {
      await agents.text("a", [message]);
      const content = z.array(z.looseObject({ text: z.string() })).parse(model.calls[0]?.prompt[0]?.content);
      expect(content.map(({ text }) => text)).toEqual(said);
    });
  }
});

test("memory.tokens and memory.prepare change the messages that the model sees, and not those that are kept", async () => {
  const memory: AgentOptions["memory"] = {
    tokens: 150,
    prepare: (messages, { userId }) => [
      { id: "s", role: "user", parts: [{ type: "text", text: `Summary for ${userId}` }] },
      ...messages,
    ],
  };
  const model = scriptedModel(["one", "two"]);
  const agent = new Agent({ id: "a", model, memory });
  const andante = createAndante({ agents: { agent }, store: memoryStore(), logger });
  const options = { conversationId: "c", userId: "ada" };
  await andante.agents.text("a", `long ${"x".repeat(800)}`, options);
  await andante.agents.text("a", "short", options);
  const prompt = JSON.stringify(model.calls[1]?.prompt);
  expect(prompt).toContain("Summary for ada");
  expect(prompt).not.toContain("long");
  expect((await andante.conversations.messages("c", { userId: "ada" })).messages).toHaveLength(4);
  await andante.close();
});

test("options that could never work are refused where the agent is defined", () => {
  const model = scriptedModel([]);
  const bad: Record<string, unknown>[] = [
    { prepareStep: 1 },
    { messageMetadata: "x" },
    { timeout: { totalMs: 0 } },
    { memory: { tokens: 0 } },
    { budget: { calls: 0 } },
    { timeout: { total: 5 } },
    { instructions: [{ role: "user", content: "x" }] },
  ];
  for (const options of bad) expect(() => new Agent({ id: "a", model, ...options })).toThrow(/Agent "a"/);
});

test.each([
  [{ approvalSecret: "" }, "approvalSecret must be a string of 1 character or more"],
  [{ approvalSecret: 5 }, "approvalSecret must be a string of 1 character or more"],
  [{ budget: { token: 5 } }, 'budget: unknown option "token"'],
  [{ budget: { conversation: { token: 5 } } }, 'budget.conversation: unknown option "token"'],
])("the refusal names the option and its problem: %j", (options, problem) => {
  const define = () => Reflect.construct(Agent, [{ id: "a", model: scriptedModel([]), ...options }]);
  expect(define).toThrow(problem);
  expect(define).toThrow('Agent "a"');
});
