// POST /agents/:id/text: a whole answer
import { describe, expect, test } from "vitest";
import { aborted, boundedModel, echoModel } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const text = (agent: string, body: unknown) => server.post(`/agents/${agent}/text`, body);

test("a text is answered with text, usage, reason and steps", async () => {
  const once = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  expect(dataOf(await text("echo", { input: "hello" }))).toEqual({
    text: "You said: hello",
    usage: { ...once, calls: 1 },
    finishReason: "stop",
    toolCalls: [],
    toolResults: [],
    steps: [{ text: "You said: hello", finishReason: "stop", usage: once, toolCalls: [], toolResults: [] }],
  });
});

test("tool calls and results are in the response, and usage is the sum of all calls of the model", async () => {
  const data = dataOf(await text("adder", { input: "add" }));
  const call = { toolCallId: "call-add", toolName: "add", input: { a: 1, b: 2 } };
  expect(data).toMatchObject({
    finishReason: "stop",
    toolCalls: [call],
    toolResults: [{ ...call, output: 3 }],
    usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30, calls: 2 },
  });
  expect(data.steps).toHaveLength(2);
  expect(data.text).toContain('"value":3');
});

test("messages are taken as chat messages and as model messages", async () => {
  const chat = [{ id: "1", role: "user", parts: [{ type: "text", text: "as chat" }] }];
  expect(dataOf(await text("echo", { input: chat })).text).toBe("You said: as chat");
  const model = [
    { role: "user", content: "first" },
    { role: "assistant", content: "yes" },
    { role: "user", content: [{ type: "text", text: "as model" }] },
  ];
  expect(dataOf(await text("echo", { input: model })).text).toBe("You said: as model");
  expect(echoModel.asked.at(-1)?.prompt.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "user",
  ]);
});

test("any agent of the AI SDK answers", async () => {
  expect(dataOf(await text("foreign", { input: "hi" }))).toMatchObject({
    text: "You said: hi",
    usage: { calls: 1 },
  });
  expect(errorOf(await text("foreign", { input: "hi", options: { temperature: 1 } }), 400)).toBe(
    "Invalid option temperature: agent foreign has settings of its own",
  );
});

describe("a request that is not valid is 400 and reaches no model", () => {
  const user = (parts: unknown) => [{ id: "1", role: "user", parts }];
  const deep = JSON.parse(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`);
  test.each([
    ["no body at all", undefined, "The request needs a JSON body"],
    ["no input", {}, "Input validation failed: input: required"],
    ["an empty text", { input: "  " }, "Input validation failed: input: the string is empty"],
    ["an empty list", { input: [] }, "Input validation failed: input: the array of messages is empty"],
    ["a number", { input: 7 }, "Input validation failed: input: expected a string or an array of messages"],
    [
      "a list of texts",
      { input: ["a"] },
      "Input validation failed: input: 0: not a message with role and content",
    ],
    [
      "a wrong part",
      { input: user([{ type: "text" }]) },
      /^Input validation failed: input: not an array of chat messages/,
    ],
    ["no parts", { input: user([]) }, /^Input validation failed: input: not an array of chat messages/],
    ["an unknown role", { input: [{ role: "boss", content: "x" }] }, /not a message with role and content/],
    [
      "a system message",
      { input: [{ role: "system", content: "obey" }] },
      /system messages are not accepted/,
    ],
    [
      "a system chat message",
      { input: [{ id: "1", role: "system", parts: [{ type: "text", text: "x" }] }] },
      /system messages are not accepted/,
    ],
    [
      "a tool result without a call",
      { input: [{ role: "tool", content: [{ type: "tool-result" }] }] },
      /not a message/,
    ],
    [
      "too many messages",
      { input: Array(1001).fill({ role: "user", content: "x" }) },
      /more than 1000 messages/,
    ],
    ["deep nesting", { input: user([{ type: "data-x", data: deep }]) }, /nested too deeply/],
    ["temperature", { input: "x", options: { temperature: 2.1 } }, /options\.temperature/],
    ["topP", { input: "x", options: { topP: -0.1 } }, /options\.topP/],
    ["topK", { input: "x", options: { topK: 1.5 } }, /options\.topK/],
    ["maxOutputTokens", { input: "x", options: { maxOutputTokens: 0 } }, /options\.maxOutputTokens/],
    ["maxSteps", { input: "x", options: { maxSteps: 1001 } }, /options\.maxSteps/],
    ["seed", { input: "x", options: { seed: "a" } }, /options\.seed/],
    ["stopSequences", { input: "x", options: { stopSequences: [""] } }, /Invalid option stopSequences/],
    ["frequencyPenalty", { input: "x", options: { frequencyPenalty: 3 } }, /options\.frequencyPenalty/],
    ["presencePenalty", { input: "x", options: { presencePenalty: -3 } }, /options\.presencePenalty/],
    ["reasoning", { input: "x", options: { reasoning: "deep" } }, /options\.reasoning/],
    [
      "providerOptions",
      { input: "x", options: { providerOptions: { openai: 1 } } },
      /options\.providerOptions/,
    ],
    [
      "a provider's option that the agent does not allow",
      { input: "x", options: { providerOptions: { scripted: { mode: "fast", user: "root" } } } },
      "Invalid option providerOptions.scripted.user: agent echo does not allow it",
    ],
    ["conversationId", { input: "x", options: { conversationId: "" } }, /Invalid option conversationId/],
    ["userId", { input: "x", options: { userId: "a\u0000b" } }, /Invalid option userId/],
    ["context", { input: "x", options: { context: [] } }, /options\.context/],
  ])("%s", async (_, body, message) => {
    const before = echoModel.asked.length;
    expect(errorOf(await text("echo", body), 400)).toMatch(message);
    expect(echoModel.asked).toHaveLength(before);
  });
});

test("options within their ranges reach the model", async () => {
  const options = {
    temperature: 0.5,
    topP: 0.9,
    topK: 5,
    maxOutputTokens: 100,
    maxSteps: 2,
    seed: 1,
    stopSequences: ["END"],
    frequencyPenalty: 1,
    presencePenalty: -1,
    reasoning: "low",
    providerOptions: { scripted: { mode: "fast" } },
  };
  const { maxSteps: _, ...reach } = options;
  dataOf(await text("echo", { input: "x", options: { ...options, unknown: 1, userId: null } }));
  expect(echoModel.asked.at(-1)).toMatchObject(reach);
});

test("the agent's settings bound the caller's", async () => {
  const options = { maxOutputTokens: 1000, temperature: 2, maxSteps: 1000 };
  dataOf(await text("bounded", { input: "x", options }));
  expect(boundedModel.asked.at(-1)).toMatchObject({ maxOutputTokens: 50, temperature: 0.1 });
});

test("a provider that answers 429 is 503, to be tried again later", async () => {
  const answer = await text("failing", { input: "429" });
  expect(errorOf(answer, 503)).toBe("The model provider is busy, try again later");
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(answer.text + JSON.stringify([...answer.headers])).not.toContain("hunter2");
});

test.each(["400", "401", "500", "503"])("a provider that answers %s is 502 in safe words", async (status) => {
  const answer = await text("failing", { input: status });
  expect(errorOf(answer, 502)).toBe("The model provider failed to answer");
  expect(answer.text + JSON.stringify([...answer.headers])).not.toContain("hunter2");
});

test("a provider that breaks off is 502, and so is one that takes too long", async () => {
  expect(errorOf(await text("cut", { input: "x" }), 502)).toBe("The model provider failed to answer");
  expect(errorOf(await text("deaf", { input: "x" }), 502)).toBe(
    "The model did not answer within 0.03 seconds",
  );
});

test("the model learns that a tool failed, the caller does not", async () => {
  const answer = await text("adder", { input: "add badly" });
  const data = dataOf(answer);
  expect(data.toolResults).toEqual([]);
  expect(data.steps).toHaveLength(2);
});

test("a caller that goes away stops the model", async () => {
  const controller = new AbortController();
  const gone = fetch(`${server.url}/agents/held/text`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input: "dropped-text" }),
    signal: controller.signal,
  });
  await gates.arrival("dropped-text");
  controller.abort();
  await expect(gone).rejects.toThrow();
  await expect.poll(() => aborted).toContain("dropped-text");
});
