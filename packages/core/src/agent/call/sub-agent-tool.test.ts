// The progress of a sub-agent: when a new view is due, and its content.
import { asSchema, type TextStreamPart, type ToolSet } from "ai";
import { describe, expect, test } from "vitest";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { DefinitionError, ReplyTimeoutError } from "../../errors/index.ts";
import { Agent } from "../agent.ts";
import type { AgentStreamCall } from "./call-model.ts";
import type { AgentStreamResult } from "./callable-agent.ts";
import { Operation } from "./operation.ts";
import { SubAgentProgress, subAgentsOf } from "./sub-agent-tool.ts";

type Part = TextStreamPart<ToolSet>;

const says = (text: string): Part => ({ type: "text-delta", id: "1", text });
const step: Part = { type: "start-step", request: {}, warnings: [] };
const called = { toolCallId: "c", toolName: "look", input: {} };

test("a text is shown when it has grown by forty characters, and a long one when it has by a quarter", () => {
  const progress = new SubAgentProgress();
  expect(progress.add(says("x".repeat(39)))).toBe(false);
  expect(progress.add(says("x"))).toBe(true);
  expect(progress.view).toEqual({ text: "x".repeat(40), toolCalls: [] });
  expect(progress.add(says("x".repeat(360)))).toBe(true);
  expect(progress.view.text).toHaveLength(400);
  expect(progress.add(says("x".repeat(99)))).toBe(false);
  expect(progress.add(says("x"))).toBe(true);
});

test("its text is that of its last step, which is shown as the first was", () => {
  const progress = new SubAgentProgress();
  progress.add(says("x".repeat(400)));
  expect(progress.view.text).toHaveLength(400);
  expect(progress.add(step)).toBe(false);
  expect(progress.text).toBe("");
  expect(progress.add(says("y".repeat(40)))).toBe(true);
  expect(progress.text).toBe("y".repeat(40));
});

test("a call is shown when it begins and when it ends, not while it yields", () => {
  const progress = new SubAgentProgress();
  const states = () => progress.view.toolCalls.map(({ state }) => state);
  const result = { type: "tool-result", ...called, output: 1, dynamic: true } as const;
  expect(progress.add({ type: "tool-call", ...called, dynamic: true })).toBe(true);
  expect(states()).toEqual(["running"]);
  expect(progress.add({ ...result, preliminary: true })).toBe(false);
  expect(states()).toEqual(["running"]);
  expect(progress.add(result)).toBe(true);
  expect(states()).toEqual(["done"]);
  expect(progress.add({ type: "tool-error", ...called, error: "no", dynamic: true })).toBe(true);
  expect(states()).toEqual(["failed"]);
  expect(progress.view.toolCalls).toEqual([{ ...called, state: "failed" }]);
});

const model = controlledModel(() => ({}));

/** An agent whose stream has these parts, and the calls of it. */
function helper(parts: readonly Part[], options: { id?: string; purpose?: string } = {}) {
  const calls: AgentStreamCall[] = [];
  class Helper extends Agent {
    override async stream(call: AgentStreamCall): Promise<AgentStreamResult> {
      calls.push(call);
      return Object({ stream: ReadableStream.from(parts) });
    }
  }
  return { agent: new Helper({ id: "helper", model, ...options }), calls };
}

async function run(parts: readonly Part[], options: { abortSignal?: AbortSignal; context?: Operation } = {}) {
  const { agent, calls } = helper(parts);
  const execute = subAgentsOf("Agent", [agent]).tools.helper?.execute;
  const given = { toolCallId: "c", messages: [], context: {}, ...options };
  const outputs = execute?.({ prompt: "Do it" }, given);
  const values: unknown[] = [];
  try {
    for await (const value of Object(outputs)) values.push(value);
  } catch (error) {
    return { values, calls, error };
  }
  return { values, calls };
}

describe("as a tool", () => {
  test("it has the purpose of the agent, or its id, and takes a prompt", async () => {
    const agents = [helper([]).agent, helper([], { id: "B_2-x", purpose: "Adds." }).agent];
    const { tools } = subAgentsOf("Agent", agents);
    expect(Object.entries(tools).map(([name, { description }]) => [name, description])).toEqual([
      ["helper", "Gives a task to the agent helper."],
      ["B_2-x", "Adds."],
    ]);
    const { inputSchema } = tools.helper ?? {};
    expect(await asSchema(Object(inputSchema)).jsonSchema).toMatchObject({
      type: "object",
      properties: {
        prompt: { type: "string", description: "The task, with everything needed to do it." },
      },
      required: ["prompt"],
      additionalProperties: false,
    });
    const validate = (input: unknown) => Object(inputSchema)["~standard"].validate(input);
    expect(await validate({ prompt: "Do it" })).toEqual({ value: { prompt: "Do it" } });
    for (const input of [{}, { prompt: 5 }, null])
      expect(await validate(input)).toEqual({ issues: [{ message: "prompt: expected a string" }] });
  });

  test.each<[boolean, unknown]>([
    [true, "x"],
    [true, "x".repeat(64)],
    [false, ""],
    [false, "x".repeat(65)],
    [false, "a b"],
    [false, " ab"],
    [false, "ab."],
    [false, 5],
    [false, undefined],
  ])("it is accepted: %s for the id %j", (isAccepted, id) => {
    const agent = Object({ id, version: "agent-v1", tools: {} });
    const problem = "a sub-agent needs an id of 1 to 64 letters, digits, _ and -";
    if (isAccepted) expect(Object.keys(subAgentsOf("A", [agent]).tools)).toEqual([id]);
    else expect(() => subAgentsOf("A", [agent])).toThrow(new DefinitionError({ where: "A", problem }));
  });

  test("two of one id, and none at all, are refused", () => {
    const { agent } = helper([]);
    const problem = 'two sub-agents have the id "helper"';
    expect(() => subAgentsOf("A", [agent, agent])).toThrow(new DefinitionError({ where: "A", problem }));
    expect(() => subAgentsOf("A", Object([undefined]))).toThrow(DefinitionError);
  });

  test("it yields its progress and at last its text, asked in the operation above", async () => {
    const { signal: abortSignal } = new AbortController();
    const context = Operation.from(undefined, abortSignal);
    const text = "x".repeat(40);
    const call: Part = { type: "tool-call", ...called, dynamic: true };
    const { values, calls, error } = await run([step, says("Hm"), call, step, says(text)], {
      abortSignal,
      context,
    });
    const toolCalls = [{ ...called, state: "running" }];
    expect([values, error]).toEqual([[{ text: "Hm", toolCalls }, { text, toolCalls }, text], undefined]);
    expect(calls).toEqual([
      { messages: [{ role: "user", content: "Do it" }], operation: context, abortSignal },
    ]);
    expect(calls[0]?.operation).toBe(context);
    const alone = await run([says("ok")]);
    expect(alone.values).toEqual(["ok"]);
    expect(alone.calls[0]).not.toHaveProperty("abortSignal");
    expect(alone.calls[0]?.operation).toBeInstanceOf(Operation);
  });

  test("its error is thrown, and so is the reason of an abort: the caller's, the operation's, or its own time", async () => {
    const failure = new Error("broken");
    expect(await run([says("a"), { type: "error", error: failure }])).toMatchObject({ error: failure });
    const aborted = (reason: string) => AbortSignal.abort(new Error(reason));
    const abort: Part = { type: "abort" };
    const { signal } = new AbortController();
    const left = Operation.from(undefined, aborted("operation"));
    const outcome = async (abortSignal: AbortSignal, context: Operation) =>
      (await run([abort], { abortSignal, context })).error;
    expect(await outcome(aborted("caller"), left)).toEqual(new Error("caller"));
    expect(await outcome(signal, left)).toEqual(new Error("operation"));
    expect(await outcome(signal, Operation.from(undefined, signal))).toBeInstanceOf(ReplyTimeoutError);
    expect((await run([abort])).error).toBeInstanceOf(ReplyTimeoutError);
  });

  test("where its loop was left, this is the reason", async () => {
    const reason = new Error("left");
    const loop = Object({ left: reason });
    const context = new Operation(Operation.from(undefined, undefined), { loop });
    expect((await run([{ type: "error", error: "other" }], { context })).error).toBe(reason);
    expect((await run([{ type: "abort" }], { context })).error).toBe(reason);
  });
});

test("other parts are no progress", () => {
  expect(new SubAgentProgress().add({ type: "text-start", id: "1" })).toBe(false);
});
