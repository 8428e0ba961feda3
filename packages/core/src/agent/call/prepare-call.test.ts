// The AI SDK's options for one call, compared as a whole: with nothing but a model, and with every option.
import { Output, tool } from "ai";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { PublicError, ReplyRefusedError } from "../../errors/index.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { Agent } from "../agent.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { AgentParameters } from "./call-arguments.ts";
import type { AgentHooks } from "./hooks.ts";
import { Operation, oneCall } from "./operation.ts";
import { prepareCall } from "./prepare-call.ts";

const model = controlledModel(() => ({ text: ["yes"] }));
const operation = () =>
  new Operation({
    ...{ userId: "ada", conversationId: "c", context: new Map(), logger: new RecordingLogger() },
    signal: new AbortController().signal,
  });
const prepare = (options: Partial<AgentOptions>, call: Partial<AgentParameters> = {}) => {
  const given: AgentOptions = { id: "a", model, ...options };
  const whole = { prompt: "hi", ...call } as AgentParameters;
  return prepareCall(new Agent(given), given, whole);
};
const made = expect.any(Function);

test("an agent with nothing but a model", async () => {
  const { settings, loop, ended } = await prepare({});
  expect(settings).toStrictEqual({
    model: expect.objectContaining({ specificationVersion: "v4", modelId: "scripted" }),
    prompt: "hi",
    tools: {},
    experimental_download: made,
    runtimeContext: {
      userId: undefined,
      conversationId: undefined,
      context: new Map(),
      logger: expect.any(Object),
      signal: settings.abortSignal,
    },
    stopWhen: [made],
    maxRetries: 2,
    abortSignal: expect.any(AbortSignal),
    onStepEnd: made,
    onToolExecutionEnd: made,
  });
  expect([loop, ended]).toEqual([undefined, undefined]);
});

test("every option of the agent and of the call reaches the AI SDK", async () => {
  const ping = tool({ inputSchema: z.object({}), execute: () => "pong" });
  const repairToolCall = async () => null;
  const output = Output.json();
  const asked = operation();
  const callbacks = {
    ...{ onStart: () => undefined, onStepStart: () => undefined },
    ...{ onToolExecutionStart: () => undefined, onEnd: () => undefined },
  };
  const { signal: abortSignal } = new AbortController();
  const telemetry = { integrations: [] };
  const observed = new Operation(asked, { telemetry: (id) => ({ ...telemetry, functionId: id }) });
  const { settings } = await prepare(
    {
      ...{ instructions: "Be brief.", tools: { ping }, activeTools: ["ping"], toolChoice: "required" },
      ...{ repairToolCall, prepareStep: () => undefined, stopWhen: [() => true, () => false] },
      ...{ toolApproval: { ping: "user-approval" }, budget: { calls: 3 }, maxRetries: 5, maxSteps: 7 },
      ...{ temperature: 0.5, topP: 0.9, topK: 4, maxOutputTokens: 9, seed: 1, stopSequences: ["."] },
      ...{ frequencyPenalty: 0.1, presencePenalty: 0.2, providerOptions: { test: { a: 1 } } },
      ...{
        timeout: { totalMs: 50 },
        memory: { tokens: 10 },
        reasoning: "high",
        headers: { "x-tenant": "7" },
      },
      ...{ toolsContext: () => ({ ping: { key: 1 } }), toolOrder: ["ping"], toolCallConcurrency: 2 },
    },
    { messages: [], operation: observed, output, abortSignal, ...callbacks },
  );
  expect(settings).toStrictEqual({
    ...{ reasoning: "high", headers: { "x-tenant": "7" } },
    ...{ toolsContext: { ping: { key: 1 } }, toolOrder: ["ping"], toolCallConcurrency: 2 },
    ...{ temperature: 0.5, topP: 0.9, topK: 4, maxOutputTokens: 9, seed: 1, stopSequences: ["."] },
    ...{ frequencyPenalty: 0.1, presencePenalty: 0.2, providerOptions: { test: { a: 1 } } },
    model: expect.objectContaining({ modelId: "scripted" }),
    instructions: "Be brief.",
    messages: [],
    tools: { ping: { ...ping, execute: made } },
    toolChoice: "required",
    toolApproval: { ping: "user-approval" },
    output,
    timeout: { totalMs: 50 },
    telemetry: { integrations: [], functionId: "a" },
    repairToolCall,
    activeTools: ["ping"],
    prepareStep: made,
    experimental_download: made,
    runtimeContext: {
      ...{ userId: "ada", conversationId: "c", context: asked.context },
      ...{ logger: asked.logger, signal: asked.signal },
    },
    stopWhen: [made, made, made, made],
    maxRetries: 5,
    abortSignal,
    onStepEnd: made,
    onToolExecutionEnd: made,
    ...callbacks,
  });
});

test("the old names of callbacks are understood, and the call's own tools and timeout come first", async () => {
  const [started, stepStarted, ended] = [() => undefined, () => undefined, () => undefined];
  const ping = tool({ inputSchema: z.object({}), execute: () => "pong" });
  const { settings } = await prepare(
    { tools: { pong: ping }, timeout: { totalMs: 50 }, output: Output.json() },
    {
      ...{ tools: { ping }, timeout: { totalMs: 5 } },
      ...{ experimental_onStart: started, experimental_onStepStart: stepStarted, onFinish: ended },
    },
  );
  const { tools, timeout, onStart, onStepStart, onEnd, output } = settings;
  expect([Object.keys(tools), timeout]).toEqual([["ping"], { totalMs: 5 }]);
  expect([onStart, onStepStart, onEnd]).toEqual([started, stepStarted, ended]);
  expect(output).toMatchObject({ name: "json" });
});

test("empty instructions are none, and a caller may ask for fewer steps than the agent allows", async () => {
  const { settings } = await prepare({ instructions: "", maxSteps: 3 }, { settings: { maxSteps: 2 } });
  expect(settings).not.toHaveProperty("instructions");
  const [stop] = settings.stopWhen;
  const stopsAfter = (steps: number) => stop?.({ steps: Array.from({ length: steps }, () => Object({})) });
  expect([stopsAfter(1), stopsAfter(2), stopsAfter(3)]).toEqual([false, true, false]);
  await expect(prepare({}, { settings: { maxSteps: 0 } })).rejects.toThrow("Invalid option maxSteps");
});

test("another model that prepareStep chooses is wrapped once, and the agent's own stays", async () => {
  const other = controlledModel(() => ({ text: ["other"] }));
  let chosen: AgentOptions["model"] | undefined;
  const { settings } = await prepare({ prepareStep: ({ model }) => ({ model: Object(chosen ?? model) }) });
  const step = Object({ stepNumber: 0, steps: [], messages: [] });
  const prepared = async () => (await settings.prepareStep?.(step))?.model;
  expect(await prepared()).toBe(settings.model);
  chosen = other;
  const wrapped = await prepared();
  expect(wrapped).not.toBe(other);
  expect(wrapped).toMatchObject({ modelId: "scripted" });
  expect(await prepared()).toBe(wrapped);
});

test("hooks receive the whole event, beside the callbacks of the caller", async () => {
  const events: unknown[] = [];
  const note = (name: string) => (event: unknown) => events.push([name, event]);
  const hooks: AgentHooks = {
    ...{ onStart: note("onStart"), onEnd: note("onEnd"), onError: note("onError") },
    ...{ onToolStart: note("onToolStart"), onToolEnd: note("onToolEnd"), onStepEnd: note("onStepEnd") },
  };
  const given: AgentOptions = { id: "a", model, hooks };
  const agent = new Agent(given);
  const context = operation();
  const called: unknown[] = [];
  const call = {
    ...{ prompt: "hi", operation: context, onStepFinish: (step: unknown) => void called.push(step) },
    onToolExecutionEnd: (event: unknown) => void called.push(event),
  };
  const { settings, ended, failed } = await prepareCall(agent, given, call);
  const step = Object({ text: "x" });
  await settings.onStepEnd(step);
  const toolCall = { toolName: "ping", toolCallId: "t", input: { a: 1 } };
  const done = Object({ toolCall, toolOutput: { type: "tool-result", output: 3 } });
  const broken = Object({ toolCall, toolOutput: { type: "tool-error", error: "no" } });
  await settings.onToolExecutionEnd(done);
  await settings.onToolExecutionEnd(broken);
  context.add(oneCall({ inputTokens: 1, outputTokens: 2, totalTokens: 3 }));
  await ended?.(Object({ text: "bye", finishReason: "stop", steps: [] }));
  await failed("why");
  await failed("the same in other words");
  expect(events).toEqual([
    ["onStart", { agent, context }],
    ["onStepEnd", { agent, context, step }],
    ["onToolEnd", { agent, context, ...toolCall, output: 3 }],
    ["onToolEnd", { agent, context, ...toolCall, error: "no" }],
    ["onEnd", { agent, context, text: "bye", finishReason: "stop", usage: context.usage }],
    ["onError", { agent, context, error: "why" }],
  ]);
  expect(called).toEqual([step, done, broken]);
});

test("a hook that fails is logged with its error; only a PublicError of a guard refuses", async () => {
  const fail = (error: Error) => () => {
    throw error;
  };
  const [oops, refusal] = [new Error("oops"), new PublicError("Not about that")];
  const logger = new RecordingLogger();
  const context = new Operation({ ...operation(), logger });
  await prepare({ hooks: { onStart: fail(oops) } }, { operation: context });
  const { ended, failed, settings } = await prepare(
    { hooks: { onEnd: fail(refusal), onError: fail(refusal), onStepEnd: fail(refusal) } },
    { operation: context },
  );
  await settings.onStepEnd(Object({}));
  await failed(1);
  expect(context.isRefused).toBe(false);
  const refused = ended?.({ text: "", finishReason: "stop" });
  await expect(refused).rejects.toThrow(new ReplyRefusedError({ reason: "Not about that", cause: refusal }));
  await expect(refused).rejects.toHaveProperty("cause", refusal);
  expect(context.isRefused).toBe(true);
  const line = { level: "warn", msg: "a hook of the agent failed" };
  expect(logger.lines).toEqual([
    { ...line, err: oops, hook: "onStart" },
    { ...line, err: refusal, hook: "onStepEnd" },
    { ...line, err: refusal, hook: "onError" },
  ]);
});

test("a call is aborted by its own signal, else by that of its operation", async () => {
  const context = operation();
  expect((await prepare({}, { operation: context })).settings.abortSignal).toBe(context.signal);
  const { signal } = new AbortController();
  const { settings } = await prepare({}, { abortSignal: signal });
  expect([settings.abortSignal, settings.runtimeContext.signal]).toEqual([signal, signal]);
});

/** A loop of recorded calls, as far as the preparation of a call knows it. */
function loopWith(fields: object = {}) {
  const recorder = { waits: false, isEmpty: true };
  const committed = vi.fn(async () => undefined);
  const toolCall = vi.fn((id: string) => ({ isWalked: id === "old" }));
  const { signal } = new AbortController();
  return Object({
    recorder,
    signal,
    committed,
    toolCall,
    isLive: true,
    nextCallIsRecorded: false,
    ...fields,
  });
}

test("a loop stops the call too, and its recorded calls are not observed", async () => {
  const left = new AbortController();
  const loop = loopWith({ recorder: { waits: false, isEmpty: false }, signal: left.signal });
  const telemetry = { integrations: [Object({ onEnd: () => undefined })] };
  const within = new Operation(operation(), { loop, telemetry: () => telemetry });
  const { settings, loop: given } = await prepare({}, { operation: within });
  expect(given).toBe(loop);
  expect(settings.telemetry).toEqual({ integrations: [expect.any(Object)] });
  expect(settings.telemetry).not.toBe(telemetry);
  expect(settings.abortSignal).not.toBe(within.signal);
  left.abort(new Error("left"));
  expect(settings.abortSignal.reason).toEqual(new Error("left"));
});

test("a call that waits for people has an approval of its own, others that of the host", async () => {
  const toolApproval = { ping: "user-approval" } as const;
  const approvalOf = async (waits: object | undefined) => {
    const within = new Operation(operation(), { loop: loopWith({ recorder: { waits, isEmpty: true } }) });
    return (await prepare({ toolApproval }, { operation: within })).settings.toolApproval;
  };
  expect(await approvalOf({})).toEqual(made);
  expect(await approvalOf(undefined)).toEqual(toolApproval);
  expect(await approvalOf({ onlyTools: true })).toEqual(toolApproval);
});

test.each([
  [true, 0],
  [false, 1],
])("the start of a reply is a hook's; the next call is recorded: %s", async (nextCallIsRecorded, starts) => {
  const onStart = vi.fn();
  const within = new Operation(operation(), { loop: loopWith({ nextCallIsRecorded }) });
  await prepare({ hooks: { onStart } }, { operation: within });
  expect(onStart).toHaveBeenCalledTimes(starts);
});

test("hooks hear of new calls after their record is written, and of no recorded ones", async () => {
  const order: string[] = [];
  const loop = loopWith({ committed: async () => void order.push("committed") });
  const within = new Operation(operation(), { loop });
  const note = (name: string) => () => void order.push(name);
  const hooks = {
    onStepEnd: note("step"),
    onToolEnd: note("tool"),
    onEnd: note("end"),
    onError: note("error"),
  };
  const onStepEnd = note("caller");
  const { settings, ended, failed } = await prepare({ hooks }, { operation: within, onStepEnd });
  const heard = async (work: () => unknown) => {
    order.length = 0;
    await work();
    return [...order];
  };
  const event = (toolCallId: string) =>
    Object({ toolCall: { toolCallId, toolName: "ping" }, toolOutput: { type: "tool-result", output: 1 } });
  expect(await heard(() => settings.onStepEnd(Object({})))).toEqual(["committed", "step", "caller"]);
  expect(await heard(() => ended?.({ text: "", finishReason: "stop" }))).toEqual(["committed", "end"]);
  expect(await heard(() => settings.onToolExecutionEnd(event("new")))).toEqual(["tool"]);
  expect(await heard(() => settings.onToolExecutionEnd(event("old")))).toEqual([]);
  expect(loop.toolCall.mock.calls).toEqual([
    ["new", "ping"],
    ["old", "ping"],
  ]);
  loop.isLive = false;
  expect(await heard(() => settings.onStepEnd(Object({})))).toEqual(["committed", "caller"]);
  loop.left = new Error("left");
  expect(await heard(() => settings.onToolExecutionEnd(event("new")))).toEqual([]);
  expect(await heard(() => failed("why"))).toEqual([]);
  loop.left = undefined;
  expect(await heard(() => failed("why"))).toEqual(["error"]);
});

test("without a hook or a callback no record is waited for", async () => {
  const loop = loopWith();
  const { settings } = await prepare({}, { operation: new Operation(operation(), { loop }) });
  await settings.onStepEnd(Object({}));
  expect(loop.committed).not.toHaveBeenCalled();
});
