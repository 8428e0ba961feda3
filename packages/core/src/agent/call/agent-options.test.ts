// The definition of an agent: its known options, the values they may have, and the error for any other.
import { expect, test } from "vitest";
import { scriptedModel } from "../../test-kit/scripted-model.ts";
import { checkAgentOptions } from "./agent-options.ts";

const model = scriptedModel([]);
const check = (options: object) => checkAgentOptions(Object({ id: "a", model, ...options }));
const absent = (...names: string[]) => Object.fromEntries(names.map((name) => [name, undefined]));

test("the options that an agent has are accepted, with its name as the result", () => {
  const texts = absent(
    "name",
    "purpose",
    "instructions",
    "approvalSecret",
    "approvalMaxAge",
    "recoverWithin",
  );
  const tools = absent("tools", "activeTools", "toolChoice", "toolApproval", "repairToolCall", "subAgents");
  const loop = absent(
    "prepareStep",
    "stopWhen",
    "output",
    "maxSteps",
    "budget",
    "maxRetries",
    "timeout",
    "hooks",
  );
  const messages = absent("messageMetadata", "title", "convertDataPart", "memory");
  const numbers = absent("temperature", "topP", "topK", "maxOutputTokens", "seed", "stopSequences");
  const others = absent("frequencyPenalty", "presencePenalty", "providerOptions", "allowProviderOptions");
  expect(check({ ...texts, ...tools, ...loop, ...messages, ...numbers, ...others })).toBe('Agent "a"');
  expect(check({ memory: absent("window", "tokens", "prepare") })).toBe('Agent "a"');
  const hooks = absent("onStart", "onEnd", "onError", "onToolStart", "onToolEnd", "onStepEnd");
  expect(check({ hooks })).toBe('Agent "a"');
});

const system = { role: "system", content: "Be brief." };
const nothing = () => undefined;
test.each<[object]>([
  [{ model: "openai/gpt-5" }],
  [{ model: nothing }],
  [{ model: { doGenerate: nothing } }],
  [{ instructions: "" }],
  [{ instructions: nothing }],
  [{ instructions: system }],
  [{ instructions: [system, system] }],
  [{ memory: false }],
  [{ memory: { window: 1, tokens: 1, prepare: nothing } }],
  [{ maxRetries: 0 }],
  [{ approvalSecret: "s" }],
  [{ allowProviderOptions: { openai: ["reasoningEffort"] } }],
  [{ prepareStep: nothing, repairToolCall: nothing, messageMetadata: nothing }],
  [{ convertDataPart: nothing, title: nothing }],
])("%o is accepted", (options) => {
  expect(check(options)).toBe('Agent "a"');
});

const functions = ["prepareStep", "repairToolCall", "messageMetadata", "convertDataPart", "title"];
const instructions = "instructions must be a string, system messages or a function";
const secret = "approvalSecret must be a string of 1 character or more";
const allowed = "allowProviderOptions must be an object with an array of names for each provider";
test.each<[object, string]>([
  [{ model: undefined }, "model is not a language model"],
  [{ model: 5 }, "model is not a language model"],
  [{ model: {} }, "model is not a language model"],
  [{ model: { doGenerate: 5 } }, "model is not a language model"],
  [{ instructions: 5 }, instructions],
  [{ instructions: { role: "user", content: "hi" } }, instructions],
  [{ instructions: [system, { role: "user", content: "hi" }] }, instructions],
  ...functions.map((name): [object, string] => [{ [name]: "x" }, `${name} must be a function`]),
  [{ memory: { prepare: "x" } }, "memory.prepare must be a function"],
  [{ memory: { window: 0 } }, "memory.window must be 1 or more"],
  [{ memory: { window: 1.5 } }, "memory.window must be 1 or more"],
  [{ memory: { tokens: 0 } }, "memory.tokens must be 1 or more"],
  [{ memory: { tokens: "9" } }, "memory.tokens must be 1 or more"],
  [{ maxRetries: -1 }, "maxRetries must be 0 or more"],
  [{ maxRetries: 0.5 }, "maxRetries must be 0 or more"],
  [{ toolCallConcurrency: 0 }, "toolCallConcurrency must be 1 or more"],
  [{ approvalSecret: "" }, secret],
  [{ approvalSecret: 5 }, secret],
  [{ allowProviderOptions: ["openai"] }, allowed],
  [{ allowProviderOptions: { openai: "x" } }, allowed],
  [{ timeout: 0 }, "timeout must be 1 millisecond or more"],
  [{ budget: { tokens: 0 } }, "a budget must be a whole number of 1 or more"],
])("%o is refused", (options, problem) => {
  expect(() => check(options)).toThrow(
    expect.objectContaining({ name: "DefinitionError", message: `Agent "a": ${problem}` }),
  );
});

test("a setting out of its range is refused with the name of the agent", () => {
  expect(() => check({ temperature: -1 })).toThrow(/^Agent "a": .*temperature/);
  expect(() => check({ reasoning: "deep" })).toThrow(
    /^Agent "a": .*reasoning: expected one of provider-default, none/,
  );
});

test.each<[string, unknown, string]>([
  ["nothing", undefined, "Agent: needs an options object"],
  ["null", null, "Agent: needs an options object"],
  ["a string", "a", "Agent: needs an options object"],
  ["no id", { model }, "Agent: the id must be a string"],
  ["an unknown option", { id: "a", model, tool: {} }, 'Agent "a": unknown option "tool"'],
  [
    "an unknown option of the memory",
    { id: "a", model, memory: { size: 1 } },
    'Agent "a", memory: unknown option',
  ],
  ["an unknown hook", { id: "a", model, hooks: { onStop: nothing } }, 'Agent "a", hooks: unknown option'],
])("%s is no definition", (_, given, problem) => {
  expect(() => checkAgentOptions(Object([given])[0])).toThrow(problem);
});
