// Agent: the prompt of its model, the arguments of hooks and tools, and that it is an agent of the AI SDK.
import { setTimeout as later } from "node:timers/promises";
import { APICallError } from "@ai-sdk/provider";
import { createAgentUIStream, Output, ToolLoopAgent, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { controlledModel, lastText } from "../../test/support/controlled-model.ts";
import { allInTime } from "../../test/support/in-time.ts";
import { ModelTimeoutError } from "../errors/index.ts";
import { createLogger } from "../observe/log/create-logger.ts";
import { RecordingLogger } from "../test-kit/recording-logger.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./call/agent-options.ts";
import type { AgentHookContext } from "./call/hooks.ts";
import { Operation, operationContext } from "./call/operation.ts";

const model = () => controlledModel((call) => ({ text: [`You said: ${lastText(call)}`] }));

function operation(fields: Partial<Operation> = {}): Operation {
  return new Operation({
    userId: "ada",
    conversationId: "c",
    context: new Map<string, unknown>([["user", { id: "ada" }]]),
    logger: createLogger({ level: "silent" }),
    signal: new AbortController().signal,
    ...fields,
  });
}

const all = <T>(items: AsyncIterable<T>) => allInTime(items, "the end of the stream");

/** A model that calls the tool once, then repeats its output. */
const calling = (name: string, input: unknown = {}) =>
  controlledModel((call, number) =>
    number === 1 ? { calls: [{ name, input }] } : { text: [JSON.stringify(call.prompt.at(-1)?.content)] },
  );

test("instructions, as a string or as a function of the operation, come first in the prompt", async () => {
  const told = model();
  await new Agent({ id: "a", model: told, instructions: "Be brief." }).generate({ prompt: "hi" });
  expect(told.asked[0]?.prompt[0]).toMatchObject({ role: "system", content: "Be brief." });
  const made = model();
  const agent = new Agent({ id: "a", model: made, instructions: async ({ userId }) => `Talk to ${userId}.` });
  await agent.generate({ prompt: "hi", operation: operation() });
  expect(made.asked[0]?.prompt[0]).toMatchObject({ role: "system", content: "Talk to ada." });
  expect(agent.instructions).toBeNull();
});

test("empty instructions are not sent", async () => {
  const told = model();
  await new Agent({ id: "a", model: told, instructions: () => "" }).generate({ prompt: "hi" });
  expect(told.asked[0]?.prompt.map(({ role }) => role)).toEqual(["user"]);
});

test("hooks are called in order, with the agent and the operation", async () => {
  const seen: [string, unknown, unknown][] = [];
  const note =
    (name: string) =>
    ({ agent, context }: AgentHookContext) => {
      seen.push([name, context.userId, context.context.get("user")]);
      expect(agent.id).toBe("a");
    };
  const agent = new Agent({
    id: "a",
    model: calling("greet"),
    tools: { greet: tool({ inputSchema: z.object({}), execute: () => "hello" }) },
    hooks: {
      onStart: note("start"),
      onStepEnd: note("step"),
      onToolStart: note("tool-start"),
      onToolEnd: (event) => {
        note("tool-end")(event);
        expect(event).toMatchObject({ toolName: "greet", input: {}, output: "hello" });
      },
      onEnd: (event) => {
        note("end")(event);
        expect(event.usage).toEqual({ inputTokens: 20, outputTokens: 10, totalTokens: 30, calls: 2 });
      },
    },
  });
  await agent.generate({ prompt: "hi", operation: operation() });
  expect(seen.map(([name]) => name)).toEqual(["start", "tool-start", "tool-end", "step", "step", "end"]);
  for (const [, userId, user] of seen) expect([userId, user]).toEqual(["ada", { id: "ada" }]);
});

test("onToolEnd receives the error of a tool that failed", async () => {
  const told: unknown[] = [];
  const execute = async (): Promise<string> => {
    throw new Error("broken");
  };
  const fail = tool({ inputSchema: z.object({}), execute });
  const hooks: AgentOptions["hooks"] = { onToolEnd: (event) => told.push(event) };
  await new Agent({ id: "a", model: calling("fail"), tools: { fail }, hooks }).generate({ prompt: "hi" });
  expect(told).toMatchObject([{ toolName: "fail", error: { message: "broken" } }]);
  expect(told[0]).not.toHaveProperty("output");
});

test("onError is called for a provider that failed and for an abort, with generate and with stream", async () => {
  const seen: unknown[] = [];
  const hooks = { onError: ({ error }: { error: unknown }) => seen.push(error) };
  const failing = controlledModel(() => ({ refuse: new Error("no") }));
  const agent = new Agent({ id: "a", model: failing, hooks, maxRetries: 0 });
  await expect(agent.generate({ prompt: "x" })).rejects.toThrow("no");
  const result = await agent.stream({ prompt: "x" });
  await result.consumeStream();
  expect(seen.map(String)).toEqual(["Error: no", "Error: no"]);
  const controller = new AbortController();
  const held = controlledModel(() => ({ text: ["a"], hold: () => controller.abort(new Error("enough")) }));
  const aborted = await new Agent({ id: "a", model: held, hooks }).stream({
    prompt: "x",
    abortSignal: controller.signal,
  });
  await aborted.consumeStream();
  expect(String(seen[2])).toBe("Error: enough");
});

test("missing hooks are not called, and cause no log line", async () => {
  const logger = new RecordingLogger();
  const failing = controlledModel(() => ({ refuse: new Error("no") }));
  const agent = new Agent({ id: "a", model: failing, hooks: { onEnd: () => undefined }, maxRetries: 0 });
  await expect(agent.generate({ prompt: "x", operation: operation({ logger }) })).rejects.toThrow("no");
  expect(logger.of("warn")).toEqual([]);
});

test("a transform of the caller's changes the stream", async () => {
  const result = await new Agent({ id: "a", model: model() }).stream({
    prompt: "hi",
    experimental_transform: () =>
      new TransformStream({
        transform(part, controller) {
          controller.enqueue(part.type === "text-delta" ? { ...part, text: part.text.toUpperCase() } : part);
        },
      }),
  });
  expect(await result.text).toBe("YOU SAID: HI");
});

test("a hook that throws changes nothing", async () => {
  const hooks = {
    onStart: () => {
      throw new Error("hook");
    },
  };
  const { text } = await new Agent({ id: "a", model: model(), hooks }).generate({ prompt: "hi" });
  expect(text).toBe("You said: hi");
});

test("a tool finds the operation in its execution options, typed by operationContext", async () => {
  const given: unknown[] = [];
  const agent = new Agent({
    id: "a",
    model: calling("look"),
    tools: {
      look: tool({
        inputSchema: z.object({}),
        contextSchema: operationContext,
        execute: (_, { context }) => {
          given.push(context.userId, context.conversationId, context.context.get("user"));
          context.logger.info({}, "looked");
          return context.signal.aborted;
        },
      }),
    },
  });
  await agent.generate({ prompt: "hi", operation: operation() });
  expect(given).toEqual(["ada", "c", { id: "ada" }]);
});

test("a sub-agent is a tool: it has the task, the operation and its usage counts", async () => {
  const seen: unknown[] = [];
  const inner = model();
  const helper = new Agent({
    id: "helper",
    purpose: "Looks things up",
    model: inner,
    hooks: { onStart: ({ context }) => seen.push(context.userId) },
  });
  const outer = calling("helper", { prompt: "find it" });
  const agent = new Agent({ id: "a", model: outer, subAgents: [helper] });
  const within = operation();
  const { text } = await agent.generate({ prompt: "hi", operation: within });
  expect(text).toContain("You said: find it");
  expect(outer.asked[0]?.tools).toMatchObject([{ name: "helper", description: "Looks things up" }]);
  expect(seen).toEqual(["ada"]);
  expect(within.usage).toEqual({ inputTokens: 30, outputTokens: 15, totalTokens: 45, calls: 3 });
});

test("any agent of the AI SDK can be a sub-agent, and its usage counts too", async () => {
  const foreign = new ToolLoopAgent({ id: "foreign", model: model() });
  const agent = new Agent({ id: "a", model: calling("foreign", { prompt: "x" }), subAgents: [foreign] });
  const within = operation();
  const { text } = await agent.generate({ prompt: "hi", operation: within });
  expect(text).toContain("You said: x");
  expect(within.usage.calls).toBe(3);
});

test("a host gives the user with any operation context, not only with one of ours", async () => {
  const made = model();
  const agent = new Agent({ id: "a", model: made, instructions: ({ userId }) => `Talk to ${userId}.` });
  const { signal } = new AbortController();
  const context = { userId: "bob", conversationId: undefined, context: new Map(), signal };
  await agent.generate({
    prompt: "hi",
    operation: { ...context, logger: createLogger({ level: "silent" }) },
  });
  expect(made.asked[0]?.prompt[0]).toMatchObject({ role: "system", content: "Talk to bob." });
});

test("maxSteps bounds the calls of the model", async () => {
  const endless = controlledModel((_, number) => ({
    calls: [{ id: `c${number}`, name: "again", input: {} }],
  }));
  const tools = { again: tool({ inputSchema: z.object({}), execute: () => "more" }) };
  await new Agent({ id: "a", model: endless, tools, maxSteps: 3 }).generate({ prompt: "hi" });
  expect(endless.asked).toHaveLength(3);
  await new Agent({ id: "a", model: endless, tools }).generate({ prompt: "hi" });
  expect(endless.asked).toHaveLength(23);
});

test("settings reach the model, and a call may change them within their ranges", async () => {
  const asked = model();
  const agent = new Agent({ id: "a", model: asked, temperature: 0.2, maxSteps: 5 });
  await agent.generate({ prompt: "hi", settings: { topP: 0.5, seed: 7, stopSequences: ["x"] } });
  expect(asked.asked[0]).toMatchObject({ temperature: 0.2, topP: 0.5, seed: 7, stopSequences: ["x"] });
  await expect(agent.generate({ prompt: "hi", settings: { temperature: 3 } })).rejects.toThrow(
    "Invalid option temperature: expected a number from 0 to 2",
  );
  await expect(agent.generate({ prompt: "hi", settings: { maxSteps: 1001 } })).rejects.toThrow(
    "Invalid option maxSteps: expected a whole number from 1 to 1000",
  );
});

test("a tool with a context schema of its own gets the agent's toolsContext, and the model the order, headers and reasoning", async () => {
  const asked = controlledModel((_, number) =>
    number === 1 ? { calls: [{ id: "c1", name: "weather", input: {} }] } : { text: ["sunny"] },
  );
  const weather = tool({
    inputSchema: z.object({}),
    contextSchema: z.object({ key: z.string() }),
    execute: (_, { context }) => `with ${context.key}`,
  });
  const agent = new Agent({
    ...{ id: "a", model: asked, tools: { other: tool({ inputSchema: z.object({}) }), weather } },
    ...{ toolsContext: { weather: { key: "k7" } }, toolOrder: ["weather"], headers: { "x-tenant": "7" } },
    reasoning: "medium",
  });
  const { text } = await agent.generate({ prompt: "hi", settings: { reasoning: "max" } });
  expect(text).toBe("sunny");
  const [first, second] = asked.asked;
  expect(first).toMatchObject({ reasoning: "medium", headers: { "x-tenant": "7" } });
  expect(first?.tools?.map(({ name }) => name)).toEqual(["weather", "other"]);
  expect(JSON.stringify(second?.prompt.at(-1))).toContain("with k7");
});

describe("the settings of the host on an agent", () => {
  const numbers = {
    temperature: 0.5,
    topP: 0.5,
    topK: 5,
    maxOutputTokens: 100,
    frequencyPenalty: 0.5,
    presencePenalty: 0.5,
  };
  const times = (factor: number) =>
    Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Math.ceil(value * factor)]));

  test("bounds each number of a call", async () => {
    const asked = model();
    const agent = new Agent({ id: "a", model: asked, ...numbers });
    await agent.generate({ prompt: "hi", settings: times(2) });
    expect(asked.asked[0]).toMatchObject(numbers);
    const lower = { temperature: 0.1, topP: 0.1, topK: 1, maxOutputTokens: 1, frequencyPenalty: -1 };
    await agent.generate({ prompt: "hi", settings: lower });
    expect(asked.asked[1]).toMatchObject({ ...numbers, ...lower });
  });

  test("bounds the model calls of one reply", async () => {
    const endless = controlledModel((_, number) => ({
      calls: [{ id: `c${number}`, name: "again", input: {} }],
    }));
    const tools = { again: tool({ inputSchema: z.object({}), execute: () => "more" }) };
    const agent = new Agent({ id: "a", model: endless, tools, maxSteps: 3 });
    await agent.generate({ prompt: "hi", settings: { maxSteps: 9 } });
    expect(endless.asked).toHaveLength(3);
    await agent.generate({ prompt: "hi", settings: { maxSteps: 2 } });
    expect(endless.asked).toHaveLength(5);
  });

  test("is not removed: its seed and its stop sequences stay", async () => {
    const asked = model();
    const agent = new Agent({ id: "a", model: asked, seed: 1, stopSequences: ["END"] });
    await agent.generate({ prompt: "hi", settings: { seed: 0, stopSequences: ["STOP", "END"] } });
    expect(asked.asked[0]).toMatchObject({ seed: 1, stopSequences: ["END", "STOP"] });
  });

  test("options of providers are changed only where it allows it, and the others stay", async () => {
    const asked = model();
    const agent = new Agent({
      id: "a",
      model: asked,
      providerOptions: { scripted: { user: "host", effort: "low" } },
      allowProviderOptions: { scripted: ["effort"] },
    });
    const call = (providerOptions: Record<string, Record<string, string>>) =>
      agent.generate({ prompt: "hi", settings: { providerOptions } });
    await call({ scripted: { effort: "high" } });
    expect(asked.asked[0]?.providerOptions).toEqual({ scripted: { user: "host", effort: "high" } });
    await expect(call({ scripted: { user: "caller" } })).rejects.toThrow(
      "Invalid option providerOptions.scripted.user: agent a does not allow it",
    );
    await expect(call({ constructor: { effort: "high" } })).rejects.toThrow("does not allow it");
    const none = new Agent({ id: "b", model: asked });
    const settings = { providerOptions: { scripted: { effort: "high" } } };
    await expect(none.generate({ prompt: "hi", settings })).rejects.toThrow("agent b does not allow it");
    expect(asked.asked).toHaveLength(1);
  });

  test("a list of allowed options that is not one is a definition error", () => {
    const allowProviderOptions = JSON.parse('{"openai":"user"}');
    expect(() => new Agent({ id: "a", model: model(), allowProviderOptions })).toThrow(
      'Agent "a": allowProviderOptions must be an object with an array of names for each provider',
    );
  });
});

describe("a model that does not answer", () => {
  const deaf = () => controlledModel(() => ({ text: ["a"], hold: () => new Promise(() => undefined) }));

  test("is given up after the timeout, whole and streamed, also when it ignores the signal", async () => {
    const agent = new Agent({ id: "a", model: deaf(), timeout: 20 });
    await expect(agent.generate({ prompt: "x" })).rejects.toThrow(
      "The model did not answer within 0.02 seconds",
    );
    const parts = await all((await agent.stream({ prompt: "x" })).stream);
    expect(parts).toContainEqual({ type: "error", error: expect.any(ModelTimeoutError) });
  });

  test("is left at once when the call is aborted", async () => {
    const agent = new Agent({ id: "a", model: deaf() });
    await expect(agent.generate({ prompt: "x", abortSignal: AbortSignal.timeout(10) })).rejects.toThrow();
  });

  test("the time that tools take does not count", async () => {
    const tools = { slow: tool({ inputSchema: z.object({}), execute: () => later(60, "done") }) };
    const agent = new Agent({ id: "a", model: calling("slow"), tools, timeout: 50 });
    expect((await agent.generate({ prompt: "x" })).text).toContain("done");
  });
});

test("a call that failed for a passing reason is tried again", async () => {
  const busy = new APICallError({
    message: "busy",
    url: "x",
    requestBodyValues: {},
    statusCode: 429,
    isRetryable: true,
    responseHeaders: { "retry-after-ms": "1" },
  });
  const flaky = controlledModel((_, number) => (number === 1 ? { refuse: busy } : { text: ["ok"] }));
  expect((await new Agent({ id: "a", model: flaky }).generate({ prompt: "x" })).text).toBe("ok");
  expect(flaky.asked).toHaveLength(2);
});

test("it works where any agent of the AI SDK does", async () => {
  const agent = new Agent({ id: "a", model: model() });
  const uiMessages = [{ id: "1", role: "user", parts: [{ type: "text", text: "hi" }] }];
  const chunks = await all(await createAgentUIStream({ agent, uiMessages }));
  expect(chunks).toContainEqual(expect.objectContaining({ type: "text-delta", delta: "You said: hi" }));
});

test.each([
  ["no id", { id: "" }, 'Agent: the id "" cannot be used in a URL'],
  ["an id that no URL reaches", { id: ".." }, 'Agent: the id ".." cannot be used in a URL'],
  ["an id of another type", { id: 5 as never }, "Agent: the id must be a string"],
  ["a wrong model", { id: "a", model: {} as never }, 'Agent "a": model is not a language model'],
  ["a wrong setting", { id: "a", topP: 2 }, 'Agent "a": Invalid option topP: expected a number from 0 to 1'],
  [
    "instructions that are none",
    { id: "a", instructions: [{ role: "user", content: "hi" }] as never },
    'Agent "a": instructions must be a string, system messages or a function',
  ],
  ["a title that is none", { id: "a", title: "T" as never }, 'Agent "a": title must be a function'],
  [
    "a wrong number of tokens",
    { id: "a", memory: { tokens: 0.5 } },
    'Agent "a": memory.tokens must be 1 or more',
  ],
  [
    "a preparation that is none",
    { id: "a", memory: { prepare: {} as never } },
    'Agent "a": memory.prepare must be a function',
  ],
  ["a wrong number of retries", { id: "a", maxRetries: -1 }, 'Agent "a": maxRetries must be 0 or more'],
  [
    "an empty secret",
    { id: "a", approvalSecret: "" },
    'Agent "a": approvalSecret must be a string of 1 character or more',
  ],
  [
    "an unknown option of the memory",
    { id: "a", memory: Object({ windows: 5 }) },
    'Agent "a", memory: unknown option "windows"; did you mean "window"?',
  ],
  [
    "an unknown hook",
    { id: "a", hooks: Object({ onEnds: () => undefined }) },
    'Agent "a", hooks: unknown option "onEnds"; did you mean "onEnd"?',
  ],
  [
    "two sub-agents of one id",
    { id: "a", subAgents: [1, 2].map(() => new Agent({ id: "b", model: model() })) },
    'Agent "a": two sub-agents have the id "b"',
  ],
  ["a wrong window", { id: "a", memory: { window: 0 } }, 'Agent "a": memory.window must be 1 or more'],
  [
    "a sub-agent without an id",
    { id: "a", subAgents: [new ToolLoopAgent({ model: model() })] },
    'Agent "a": a sub-agent needs an id of 1 to 64 letters, digits, _ and -',
  ],
  [
    "a list of provider options that is none",
    { id: "a", allowProviderOptions: { openai: "user" } as never },
    'Agent "a": allowProviderOptions must be an object with an array of names for each provider',
  ],
  ["a wrong number of steps", { id: "a", maxSteps: 0 }, 'Agent "a": Invalid option maxSteps'],
  ["a wrong time", { id: "a", timeout: 0 }, 'Agent "a": timeout must be 1 millisecond or more'],
  [
    "a wrong playground",
    { id: "a", playground: true as never },
    'Agent "a": playground must be false or an object',
  ],
  [
    "a playground with an unknown option",
    { id: "a", playground: Object({ model: "x" }) },
    'Agent "a", playground: unknown option "model"; did you mean "models"?',
  ],
  [
    "models that are none",
    { id: "a", playground: { models: ["x"] as never } },
    "playground.models must be an object",
  ],
  [
    "a model of the playground that is none",
    { id: "a", playground: { models: { fast: 1 as never } } },
    'Agent "a": playground.models.fast is not a language model',
  ],
  [
    "a model of the playground without a name",
    { id: "a", playground: { models: { "": "openai/gpt-5" } } },
    "a model without a name",
  ],
  ...["prepareStep", "repairToolCall", "messageMetadata", "convertDataPart", "title"].map(
    (name): [string, { id: string }, string] => [
      `a ${name} that is none`,
      { id: "a", [name]: "x" },
      `Agent "a": ${name} must be a function`,
    ],
  ),
])("%s is a definition error", (_, options, message) => {
  expect(() => new Agent({ model: model(), ...options })).toThrow(message);
});

test("every option is accepted, and no memory is one, too", () => {
  const nothing = () => undefined;
  const hooks = {
    ...{ onStart: nothing, onEnd: nothing, onError: nothing },
    ...{ onToolStart: nothing, onToolEnd: nothing, onStepEnd: nothing },
  };
  const options: Required<AgentOptions> = {
    ...{ id: "a", name: "A", purpose: "p", description: "d", instructions: "i", model: model() },
    ...{ tools: {}, activeTools: [], toolsContext: {}, toolOrder: [], toolCallConcurrency: 1, headers: {} },
    ...{ reasoning: "low", schedules: {} },
    ...{ callOptions: {}, callOptionsSchema: z.object({}), runtimeContext: {}, telemetry: {}, include: {} },
    ...{
      allowSystemInMessages: false,
      fallback: { on: ["busy"], after: "10s" },
      prepareCall: (call) => call,
    },
    ...{ onStart: nothing, onStepStart: nothing, onStepEnd: nothing, onStepFinish: nothing },
    ...{ onLanguageModelCallStart: nothing, onLanguageModelCallEnd: nothing, onStepError: nothing },
    ...{ onToolExecutionStart: nothing, onToolExecutionEnd: nothing, onEnd: nothing, onFinish: nothing },
    ...{ onError: nothing, onAbort: nothing, experimental_download: undefined },
    ...{ prepareStep: nothing, stopWhen: [], repairToolCall: async () => null, output: Output.text() },
    ...{ messageMetadata: nothing, title: nothing, convertDataPart: nothing, toolChoice: "auto" },
    ...{ toolApproval: {}, approvalSecret: "s", approvalMaxAge: "1h", subAgents: [], recoverWithin: "1h" },
    whenBusy: "reject",
    memory: { window: 5, tokens: 6, prepare: (messages) => messages },
    ...{ temperature: 1, topP: 1, topK: 1, maxOutputTokens: 1, seed: 1, stopSequences: ["x"] },
    ...{ frequencyPenalty: 1, presencePenalty: 1, providerOptions: {}, allowProviderOptions: {} },
    ...{ maxSteps: 3, budget: { tokens: 1, calls: 1, conversation: { tokens: 1, calls: 1 } }, maxRetries: 1 },
    timeout: {
      ...{ modelMs: 1, totalMs: 1, stepMs: 1, firstChunkMs: 1, chunkMs: 1, toolMs: 1 },
      tools: { lookMs: 1 },
    },
    playground: { models: { other: model() } },
    hooks,
    guards: { output: { hold: "reply", check: nothing } },
  };
  const agent = new Agent(options);
  const { messageMetadata, title, convertDataPart, toolApproval, budget, output, memory } = options;
  expect(agent).toMatchObject({
    ...{ id: "a", name: "A", purpose: "p", instructions: "i", model: "scripted/scripted", tools: {} },
    ...{ messageMetadata, title, convertDataPart, toolApproval, budget, output, memory, window: 5 },
    ...{ approval: { secret: "s", maxAge: 3_600_000 }, recoverWithin: 3_600_000, maxSteps: 3 },
  });
  expect(new Agent({ id: "b", model: "openai/x", description: "d" }).purpose).toBe("d");
  expect(new Agent({ id: "b", model: "openai/x", memory: false })).toMatchObject({
    ...{ name: "b", purpose: "", instructions: "", model: "openai/x", subAgents: [], tools: {} },
    ...{ window: 0, memory: {}, maxSteps: 20, recoverWithin: 900_000 },
    ...{ approval: { secret: undefined, maxAge: 3_600_000 }, held: undefined, recordsCalls: true },
  });
  expect(new Agent({ id: "c", model: model() })).toMatchObject({ window: 50, memory: {} });
});

test("the least values are accepted", () => {
  const least = { memory: { window: 1, tokens: 1 }, maxRetries: 0, approvalSecret: "s" };
  const system = { role: "system", content: "Help." } as const;
  for (const instructions of ["", system, [system, system], () => ""])
    expect(() => new Agent({ id: "a", model: model(), ...least, instructions })).not.toThrow();
});
