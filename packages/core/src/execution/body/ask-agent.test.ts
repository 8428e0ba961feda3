// The reply of an andAgent step: its text, its live events, its record, and when it is not complete.
import { type ModelMessage, type TextStreamPart, type ToolSet, tool } from "ai";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { controlledModel, lastText } from "../../../test/support/controlled-model.ts";
import { bodyForTest, type GivenBody } from "../../../test/support/running-body.ts";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/call/agent-options.ts";
import { Operation, type OperationContext } from "../../agent/call/operation.ts";
import { PublicError } from "../../errors/index.ts";
import { Journal } from "../../journal/journal.ts";
import type { Schema } from "../../values/schema.ts";
import type { WorkflowAgent } from "../../workflow/step.ts";
import { type AgentStepOptions, agentStep } from "../../workflow/steps/and-agent.ts";
import { askAgent } from "./ask-agent.ts";
import { ControlFlowSignal } from "./control-flow-signal.ts";

type Options = Partial<AgentStepOptions<unknown, unknown, Schema>> & { readonly agent: WorkflowAgent };

const path = "list/one";
const used = { inputTokens: 10, outputTokens: 5, totalTokens: 15, calls: 1 };

function askingBody(options: Options, given: GivenBody = {}) {
  const step = agentStep({ id: "one", prompt: "p", ...options });
  const body = bodyForTest({ step, output: 10_000, ...given });
  const context = body.context();
  const ask = (prompt: unknown = "hello") => askAgent(step, path, prompt, context);
  const message = (prompt?: unknown) =>
    ask(prompt).then(
      (value: unknown) => `replied ${JSON.stringify(value)}`,
      (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
    );
  const texts = () => body.published.map(({ delta, tool: call }) => call ?? delta);
  return { ...body, context, ask, message, texts };
}

type Part = TextStreamPart<ToolSet>;

/** An agent of another library, whose stream has these parts. */
function foreignAgent(parts: readonly Partial<Part>[], fields: object = {}): WorkflowAgent {
  const stream = vi.fn(async () => ({ stream: ReadableStream.from(parts) }));
  return Object.assign({ generate: neverGenerates }, { version: "agent-v1", stream, ...fields });
}

const neverGenerates = () => Promise.reject(new Error("only stream is called"));
const text = (delta: string): Partial<Part> => ({ type: "text-delta", id: "1", text: delta });
const startStep: Partial<Part> = { type: "start-step" };
const finish = (finishReason: string): Partial<Part> => Object({ type: "finish", finishReason });

test("the text is that of the last step; its pieces are published as they come", async () => {
  const parts = [startStep, text("think"), text(""), startStep, text("an"), text("swer"), finish("stop")];
  const { ask, published, context } = askingBody({ agent: foreignAgent(parts) });
  expect(await ask()).toEqual({ text: "answer" });
  const where = { path, stepIndex: 3, stepType: "andAgent", timestamp: 1000 };
  expect(published).toEqual(["think", "an", "swer"].map((delta) => ({ ...where, delta })));
  expect(context.usage).toBeUndefined();
});

test("calls of tools are published with their input, output and public failure", async () => {
  const call = { toolCallId: "c", toolName: "search", input: { at: new Date(0) } };
  const parts = [
    { ...call, type: "tool-call" },
    { ...call, type: "tool-result", output: { found: new Date(0) }, preliminary: true },
    { ...call, type: "tool-result", output: "end", preliminary: false },
    { ...call, type: "tool-result", output: "end" },
    { ...call, type: "tool-error", error: new Error("secret") },
    { ...call, type: "tool-error", error: new PublicError("no ticket"), providerExecuted: true },
    { ...call, type: "tool-input-start" },
  ] as Partial<Part>[];
  const { ask, texts, published } = askingBody({ agent: foreignAgent(parts) });
  expect(await ask()).toEqual({ text: "" });
  const shown = { ...call, input: { at: "1970-01-01T00:00:00.000Z" } };
  expect(texts()).toStrictEqual([
    { ...shown, type: "tool-call" },
    { ...shown, type: "tool-result", output: { found: "1970-01-01T00:00:00.000Z" }, preliminary: true },
    { ...shown, type: "tool-result", output: "end" },
    { ...shown, type: "tool-result", output: "end" },
    { ...shown, type: "tool-error", error: "The tool failed" },
    { ...shown, type: "tool-error", error: "no ticket" },
  ]);
  expect(published.map(({ delta }) => delta)).toEqual(texts().map((each) => JSON.stringify(each)));
});

test("an error in the stream, and an abort of the step, fail it; an abort by the agent alone does not", async () => {
  const broken = askingBody({
    agent: foreignAgent([text("a"), { type: "error", error: new Error("broke") }]),
  });
  expect(await broken.message()).toBe("Error: broke");
  const parts: Partial<Part>[] = [text("a"), { type: "abort" }, text("b")];
  expect(await askingBody({ agent: foreignAgent(parts) }).message()).toBe('replied {"text":"ab"}');
  const aborted = askingBody({ agent: foreignAgent(parts) });
  aborted.scope.abort(new Error("cancelled"));
  expect(await aborted.message()).toBe("Error: cancelled");
});

test.each([
  ["length", "it has reached the number of tokens that the model may write"],
  ["content-filter", "the provider's content filter stopped it"],
])("a reply that ends with %s is not complete", async (reason, why) => {
  const parts = [text("half"), finish(reason)];
  expect(await askingBody({ agent: foreignAgent(parts) }).message()).toBe(
    `ReplyIncompleteError: Step list/one: the agent's reply is not complete: ${why}. Set allowIncomplete to use it anyway.`,
  );
  expect(await askingBody({ agent: foreignAgent(parts), allowIncomplete: true }).ask()).toEqual({
    text: "half",
  });
});

test.each(["stop", "tool-calls", "other"])(
  "a reply of another library that ends with %s is",
  async (reason) => {
    const agent = foreignAgent([text("all"), finish(reason)]);
    expect(await askingBody({ agent }).ask()).toEqual({ text: "all" });
  },
);

const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
const calling = { text: ["let me look"], calls: [{ name: "look", input: {} }] };

function ourAgent(script: Parameters<typeof controlledModel>[0], more: Partial<AgentOptions> = {}) {
  const model = controlledModel(script);
  return { agent: new Agent({ id: "a", model, tools: { look }, maxRetries: 0, ...more }), model };
}

const incomplete = (why: string) =>
  `ReplyIncompleteError: Step list/one: the agent's reply is not complete: ${why}. Set allowIncomplete to use it anyway.`;

test("a loop of tools that ends at maxSteps or at a budget is not complete, one that the host ends is", async () => {
  const agentWith = (more: Partial<AgentOptions>) => ourAgent(() => calling, more).agent;
  const two = agentWith({ maxSteps: 2 });
  expect(await askingBody({ agent: two }).message()).toBe(
    incomplete(
      "it has called the model 2 times, as often as maxSteps allows, and the last reply asks for tools",
    ),
  );
  expect(await askingBody({ agent: two, allowIncomplete: true }).ask()).toEqual({ text: "let me look" });
  const budgeted = agentWith({ maxSteps: 9, budget: { calls: 3 } });
  expect(await askingBody({ agent: budgeted }).message()).toBe(
    incomplete("it has used the agent's budget, and the last reply asks for tools"),
  );
  const { agent: spent } = ourAgent(() => ({ text: ["done"] }), { budget: { calls: 1 } });
  expect(await askingBody({ agent: spent }).ask()).toEqual({ text: "done" });
  const host = agentWith({ maxSteps: 3, stopWhen: ({ steps }) => steps.length === 2 });
  expect(await askingBody({ agent: host }).ask()).toEqual({ text: "let me look" });
  const { agent: last } = ourAgent((_, number) => (number === 2 ? { text: ["done"] } : calling), {
    maxSteps: 2,
  });
  expect(await askingBody({ agent: last }).ask()).toEqual({ text: "done" });
});

test("the steps of a second try are counted from its own first one", async () => {
  const schema = z.object({ n: z.number() });
  const agentWith = (more: Partial<AgentOptions>) =>
    ourAgent((_, number) => (number === 1 ? { text: ["no JSON"] } : calling), more).agent;
  const ended = agentWith({ maxSteps: 3, stopWhen: ({ steps }) => steps.length === 2 });
  expect(await askingBody({ agent: ended, schema }).message()).toBe(
    "StepSchemaError: Step list/one: output validation failed: it is not JSON",
  );
  const all = agentWith({ maxSteps: 2 });
  expect(await askingBody({ agent: all, schema }).message()).toContain("it has called the model 2 times");
});

test("a reply with a schema is the object as the model wrote it", async () => {
  const schema = z.object({ n: z.string().transform(Number) });
  const { agent, model } = ourAgent(() => ({ text: ['{"n":', '"7"}'] }));
  const { ask, context } = askingBody({ agent, schema });
  expect(await ask()).toEqual({ n: "7" });
  expect(model.asked[0]?.responseFormat).toMatchObject({ type: "json", schema: { required: ["n"] } });
  expect(context.usage).toEqual(used);
});

test("an agent that runs again over its record publishes only new pieces and asks only new calls", async () => {
  const journal = new Journal();
  const script = (_: unknown, number: number) =>
    number === 1 ? calling : number === 2 ? { refuse: new Error("down") } : { text: ["done"] };
  const { agent, model } = ourAgent(script);
  const first = askingBody({ agent }, { journal });
  expect(await first.message()).toContain("down");
  const call = { toolCallId: "call-look", toolName: "look", input: {} };
  expect(first.texts()).toEqual([
    "let me look",
    { ...call, type: "tool-call" },
    { ...call, type: "tool-result", output: "seen" },
  ]);
  const again = askingBody({ agent }, { journal });
  expect(await again.ask()).toEqual({ text: "done" });
  expect([again.texts(), model.asked.length]).toEqual([["done"], 3]);
  expect(again.context.usage).toEqual({ inputTokens: 20, outputTokens: 10, totalTokens: 30, calls: 2 });
});

test("a tool that the provider runs is published each time", async () => {
  const call = { toolCallId: "c", toolName: "web", input: {}, providerExecuted: true };
  const parts = [{ ...call, type: "tool-call" }] as Partial<Part>[];
  const { ask, texts } = askingBody({ agent: foreignAgent(parts) });
  await ask();
  expect(texts()).toEqual([{ type: "tool-call", toolCallId: "c", toolName: "web", input: {} }]);
});

test("an agent of another library is recorded as a whole, with the usage that it reported", async () => {
  const journal = new Journal();
  const asked: unknown[] = [];
  const agent = foreignAgent([], {
    id: "theirs",
    stream: async (options: { onStepEnd(step: object): void; messages: unknown }) => {
      asked.push(options.messages);
      options.onStepEnd({ usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } });
      return { stream: ReadableStream.from([text("whole")]) };
    },
  });
  const first = askingBody({ agent }, { journal });
  const telemetry = vi.spyOn(first.context, "telemetryFor");
  expect(await first.ask()).toEqual({ text: "whole" });
  expect(telemetry.mock.calls).toEqual([["theirs"]]);
  expect(first.context.usage).toEqual(used);
  expect(journal.checkpoints?.get(`${path}#call[0]`)).toMatchObject({
    ...{ recorded: true, output: '"whole"', call: { kind: "agent" }, usage: used },
  });
  const again = askingBody({ agent }, { journal });
  expect(await again.ask()).toEqual({ text: "whole" });
  expect([again.texts(), again.context.usage]).toEqual([[], used]);
  expect(asked).toEqual([[{ role: "user", content: "hello" }]]);
});

test("an agent with only a generate function receives one string, the signal and the telemetry", async () => {
  const asked: Parameters<WorkflowAgent["generate"]>[0][] = [];
  const generate: WorkflowAgent["generate"] = async (options) => {
    asked.push(options);
    return { text: '{"n":1}' };
  };
  const journal = new Journal();
  const { ask, context, scope, published } = askingBody({ agent: { generate } }, { journal });
  const telemetry = vi.spyOn(context, "telemetryFor");
  expect(await ask()).toEqual({ text: '{"n":1}' });
  expect(asked.map(({ prompt }) => prompt)).toEqual(["hello"]);
  expect(asked[0]?.abortSignal).toBe(scope.signal);
  expect(asked[0]?.telemetry).toEqual(telemetry.mock.results[0]?.value);
  expect(telemetry.mock.calls).toEqual([["agent"]]);
  expect([published, context.usage]).toEqual([[], undefined]);
  expect(journal.checkpoints?.get(`${path}#call[0]`)).toMatchObject({ usage: undefined });
  const named = askingBody({ agent: { id: "mine", generate }, schema: z.object({ n: z.number() }) });
  const spied = vi.spyOn(named.context, "telemetryFor");
  expect(await named.ask()).toEqual({ n: 1 });
  expect(spied.mock.calls).toEqual([["mine"]]);
  expect(asked[1]?.prompt).toMatch(
    /^hello\n\nReply with nothing but JSON that matches this JSON Schema:\n\{/,
  );
});

test.each<[string, object]>([
  ["of another version", { version: "agent-v2" }],
  ["without a version", { version: undefined }],
  ["whose stream is no function", { stream: "yes" }],
])("an agent %s is asked with generate", async (_, fields) => {
  const generate = async () => ({ text: "generated" });
  const agent = foreignAgent([text("streamed")], { generate, ...fields });
  expect(await askingBody({ agent }).ask()).toEqual({ text: "generated" });
});

test("messages with texts become one string; files are refused", async () => {
  const prompts: string[] = [];
  const agent: WorkflowAgent = {
    generate: async ({ prompt }) => {
      prompts.push(prompt);
      return { text: "" };
    },
  };
  const messages: ModelMessage[] = [
    { role: "user", content: "one" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "two" },
        { type: "text", text: "three" },
      ],
    },
    { role: "user", content: "four" },
  ];
  expect(await askingBody({ agent }).ask(messages)).toEqual({ text: "" });
  expect(prompts).toEqual(["one\n\ntwo\n\nthree\n\nfour"]);
  const file = [{ role: "user", content: [{ type: "file", mediaType: "image/png", data: "aGk=" }] }];
  expect(await askingBody({ agent }).message(file)).toBe(
    "TypeError: this agent has only a generate function, which takes a string, not files",
  );
});

test("a prompt that is no string and no messages is refused with its problem", async () => {
  const { agent, model } = ourAgent(() => ({ text: ["ok"] }));
  const problem = (prompt: unknown) => askingBody({ agent }).message(prompt);
  const refused = "StepSchemaError: Step list/one: prompt validation failed:";
  expect(await problem(7)).toBe(`${refused} expected a string or messages, received number`);
  expect(await problem({})).toBe(`${refused} expected a string or messages, received object`);
  expect(await problem([])).toBe(`${refused} the array of messages is empty`);
  expect(await problem([{ role: "system", content: "x" }])).toMatch(
    /^StepSchemaError: Step list\/one: prompt/,
  );
  expect(model.asked).toEqual([]);
});

test("messages of a chat are converted with the tools of the agent", async () => {
  const parts = [
    { type: "tool-look", toolCallId: "c", state: "output-available", input: {}, output: { secret: 1 } },
  ];
  const history = [
    { id: "u", role: "user", parts: [{ type: "text", text: "look" }] },
    { id: "a", role: "assistant", parts },
    { id: "v", role: "user", parts: [{ type: "text", text: "and?" }] },
  ];
  const toModelOutput = () => ({ type: "text" as const, value: "short" });
  const seen = tool({ inputSchema: z.object({}), execute: () => ({ secret: 1 }), toModelOutput });
  const { agent, model } = ourAgent((call) => ({ text: [lastText(call)] }), { tools: { look: seen } });
  expect(await askingBody({ agent }).ask(history)).toEqual({ text: "and?" });
  expect(JSON.stringify(model.asked[0]?.prompt)).toContain('"output":{"type":"text","value":"short"}');
  const withoutTools = foreignAgent([text("ok")], { tools: undefined });
  expect(await askingBody({ agent: withoutTools }).ask([history[0]])).toEqual({ text: "ok" });
  const oddTools = foreignAgent([text("ok")], { tools: null });
  expect(await askingBody({ agent: oddTools }).ask([history[0]])).toEqual({ text: "ok" });
});

test("hooks and tools know the user, the conversation and the context, which they cannot change for others", async () => {
  const seen: unknown[] = [];
  const { agent } = ourAgent(() => ({ text: ["ok"] }), {
    hooks: {
      onStart: ({ context: { userId, conversationId, context, logger } }) => {
        seen.push(userId, conversationId, context.get("plan"));
        logger.info({}, "from the hook");
      },
    },
  });
  const { ask, logger } = askingBody({ agent });
  await ask();
  expect(seen).toEqual(["ada", "c1", "pro"]);
  expect(logger.lines).toContainEqual(expect.objectContaining({ msg: "from the hook", stepPath: path }));
});

test("a tool that waits for a person leaves the body with its suspension", async () => {
  const execute = vi.fn(() => "seen");
  const tools = { look: tool({ inputSchema: z.object({}), execute, needsApproval: true }) };
  const { agent } = ourAgent(() => calling, { tools });
  const { ask, context } = askingBody({ agent });
  const thrown: unknown = await ask().catch((error: unknown) => error);
  expect(ControlFlowSignal.requestOf(thrown)).toMatchObject({
    kind: "suspend-calls",
    calls: [{ path: `${path}#call[0].tool[0]`, again: false }],
  });
  expect([execute.mock.calls, context.usage]).toEqual([[], used]);
});

test("the budget of the execution ends the loop after the call that reached it, or refuses the first", async () => {
  const { agent, model } = ourAgent(() => calling, { maxSteps: 9 });
  const usedBy = () => ({ ...used, calls: model.asked.length });
  const stopped = askingBody({ agent, budget: { calls: 2 } }, { used: usedBy });
  expect(await stopped.message()).toBe(
    incomplete("the execution has used its budget, and the last reply asks for tools"),
  );
  expect(model.asked).toHaveLength(2);
  const refused = askingBody({ agent, budget: { calls: 2 } }, { used: usedBy });
  expect(await refused.message()).toMatch(/^BudgetReachedError: /);
  expect(model.asked).toHaveLength(2);
  const { agent: other } = ourAgent(() => calling, { maxSteps: 9 });
  const anyway = askingBody(
    { agent: other, budget: { tokens: 1 }, allowIncomplete: true },
    { used: () => ({ ...used, totalTokens: 0 }) },
  );
  expect(await anyway.ask()).toEqual({ text: "let me look" });
});

test("an approved budget counts from the usage when it was approved", async () => {
  const journal = new Journal();
  const place = `${path}#call[0]`;
  journal.suspended(place, 3, "s1", undefined);
  journal.resumed(place, {
    ...{ type: "workflow-resumed", sequence: 4, timestamp: 1, path: place, stepIndex: 3, userId: undefined },
    ...{ suspensionId: "s1", resumeData: '{"approved":true}', byDeadline: false, expired: false },
  });
  const { agent, model } = ourAgent(() => ({ text: ["ok"] }));
  const reads: unknown[] = [];
  const usedBy = (suspensionId?: string) => {
    reads.push(suspensionId);
    return { ...used, calls: suspensionId === "s1" ? 4 : 5 };
  };
  const budget = { calls: 2, onReached: "suspend" } as const;
  expect(await askingBody({ agent, budget }, { journal, used: usedBy }).ask()).toEqual({ text: "ok" });
  expect([model.asked.length, reads.includes("s1")]).toEqual([1, true]);
});

test("the model is called once calls can be observed", async () => {
  const { agent, model } = ourAgent(() => ({ text: ["ok"] }));
  const { context, ask } = askingBody({ agent });
  const open = Promise.withResolvers<void>();
  vi.spyOn(context, "observed").mockReturnValue(open.promise);
  const reply = ask();
  await Promise.resolve();
  expect(model.asked).toEqual([]);
  open.resolve();
  expect(await reply).toEqual({ text: "ok" });
});

test("the files of a step take their memory from the pool of the process for its user, and give it back at its end", async () => {
  const load = async ({ context }: { context: OperationContext }) => {
    if (!(context instanceof Operation)) throw new TypeError("the step has no operation");
    await context.files.load(async ({ reserve, signal }) => {
      await reserve(7, signal);
      return { data: new Uint8Array(7) };
    });
    expect(give).toHaveBeenLastCalledWith(0, "ada");
  };
  const { agent } = ourAgent(() => ({ text: ["seen"] }), { hooks: { onStart: load } });
  const { context, ask } = askingBody({ agent });
  const take = vi.spyOn(context.files, "take");
  const give = vi.spyOn(context.files, "give");
  expect(await ask()).toEqual({ text: "seen" });
  expect(take.mock.calls).toEqual([[7, { userId: "ada", holds: false }, expect.any(AbortSignal)]]);
  expect(give).toHaveBeenLastCalledWith(7, "ada");
});
