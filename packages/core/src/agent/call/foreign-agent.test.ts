// The schema as text: added to the user's last message, in any form of it.
import type { ModelMessage } from "ai";
import { expect, test } from "vitest";
import { Agent } from "../agent.ts";
import type { AnyAgent } from "./any-agent.ts";
import { callableAgent, withSchemaInWords } from "./foreign-agent.ts";
import { Operation } from "./operation.ts";

const schema = { type: "object" };
const words = 'Reply with nothing but JSON that matches this JSON Schema:\n{"type":"object"}';
const before: ModelMessage[] = [
  { role: "user", content: "one" },
  { role: "assistant", content: "two" },
];

test("it follows a text, and the parts of a message that has parts", () => {
  expect(withSchemaInWords([...before, { role: "user", content: "three" }], schema)).toEqual([
    ...before,
    { role: "user", content: `three\n\n${words}` },
  ]);
  const parts = [{ type: "text" as const, text: "three" }];
  expect(withSchemaInWords([{ role: "user", content: parts }], schema)).toEqual([
    { role: "user", content: [...parts, { type: "text", text: words }] },
  ]);
});

test("it is a message of its own where the user has not spoken last", () => {
  expect(withSchemaInWords(before, schema)).toEqual([...before, { role: "user", content: words }]);
  expect(withSchemaInWords([], schema)).toEqual([{ role: "user", content: words }]);
});

/** An agent that is not ours, and the parameters of its calls. */
function foreign(fields: object = {}) {
  const calls: { onStepEnd: (step: object) => void; [name: string]: unknown }[] = [];
  const call = async (given: object) => calls.push(Object(given));
  const agent: AnyAgent = Object({ version: "agent-v1", generate: call, stream: call, ...fields });
  return { agent, calls };
}

test("an agent of ours is itself, and another has its own id, or the one that it is registered with", () => {
  const ours = new Agent({ id: "ours", model: "test/model" });
  expect(callableAgent(ours, "x")).toBe(ours);
  expect(callableAgent(foreign({ id: "own" }).agent, "x").id).toBe("own");
  const tools = { look: {} };
  const plain = callableAgent(foreign().agent, "x");
  expect(plain).toMatchObject({
    ...{ id: "x", name: "x", purpose: "", tools: {}, subAgents: [], window: 50, memory: {} },
    ...{ model: null, instructions: null, recordsCalls: false, recoverWithin: 900_000 },
    approval: { secret: undefined, maxAge: 3_600_000 },
  });
  expect(plain.supportedUrls(Operation.from(undefined, undefined))).toEqual({});
  const described = callableAgent(foreign({ purpose: "Helps", tools }).agent, "x");
  expect([described.purpose, described.tools]).toEqual(["Helps", tools]);
  expect(described.toolsFor(Operation.from(undefined, undefined))).toBe(tools);
  expect(callableAgent(foreign({ purpose: 5 }).agent, "x").purpose).toBe("");
});

test("its settings are its own", () => {
  const { agent } = foreign();
  const callable = callableAgent(agent, "x");
  expect(() => callable.checkSettings({})).not.toThrow();
  expect(() => callable.checkSettings({ topP: 1 })).toThrow(
    "Invalid option topP: agent x has settings of its own",
  );
  expect(() => callable.checkSettings({ topP: 2 })).toThrow("expected a number from 0 to 1");
});

test.each(["generate", "stream"] as const)(
  "%s passes on the messages, the signal and the telemetry",
  async (way) => {
    const { agent, calls } = foreign();
    const callable = callableAgent(agent, "x");
    const plain = Operation.from(undefined, undefined);
    const operation = new Operation(plain, { telemetry: (functionId) => ({ functionId }) });
    await callable[way]({ messages: before, operation });
    expect(calls).toEqual([
      {
        ...{ messages: before, abortSignal: operation.signal, telemetry: { functionId: "x" } },
        ...{ experimental_download: expect.any(Function), onStepEnd: expect.any(Function) },
      },
    ]);
    calls[0]?.onStepEnd({ usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } });
    expect(operation.usage).toMatchObject({ inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 });
    const { signal } = new AbortController();
    await callable[way]({ messages: before, operation: plain, abortSignal: signal });
    expect(calls[1]).toMatchObject({ abortSignal: signal, telemetry: undefined });
  },
);

test("the schema of an output is put into words; another format is not", async () => {
  const { agent, calls } = foreign();
  const operation = Operation.from(undefined, undefined);
  const output = (format: object) => Object({ responseFormat: Promise.resolve(format) });
  const callable = callableAgent(agent, "x");
  await callable.generate({ messages: before, operation, output: output({ type: "json", schema }) });
  await callable.generate({ messages: before, operation, output: output({ type: "text", schema }) });
  expect(calls.map(({ messages }) => messages)).toEqual([withSchemaInWords(before, schema), before]);
});

test.each<[object, boolean]>([
  [{}, false],
  [{ settings: undefined }, false],
  [{ settings: null }, false],
  [{ settings: {} }, false],
  [{ settings: { experimental_download: undefined } }, false],
  [{ settings: { experimental_download: () => [] } }, true],
])("with %j it loads files in its own way: %s", async (fields, isOwn) => {
  const { agent, calls } = foreign(fields);
  await callableAgent(agent, "x").stream({ messages: [], operation: Operation.from(undefined, undefined) });
  expect("experimental_download" in (calls[0] ?? {})).toBe(!isOwn);
});
