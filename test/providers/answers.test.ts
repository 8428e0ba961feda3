// Every kind of answer through a real provider package, from the provider's bytes to ours.
import { createAnthropic } from "@ai-sdk/anthropic";
import { Agent } from "@andante/core";
import { describe, expect, test } from "vitest";
import { dataOf, type Fields, fieldsOf, listOf, payloadOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { anthropicWire } from "./anthropic-wire.ts";
import { type Received, refusedAddress, startProvider } from "./provider-server.ts";
import { agentsOn, anthropic, asked, openai, providers } from "./providers.ts";

const usage = { inputTokens: 11, outputTokens: 7, totalTokens: 18 };
const schema = {
  type: "object",
  properties: { town: { type: "string" }, degrees: { type: "number" } },
  required: ["town", "degrees"],
  additionalProperties: false,
};
const weather = { town: "Oslo", degrees: 21 };
const call = { id: "call_1", name: "weather", input: { town: "Oslo" } };
const pieces = ['{"town":', '"Os', 'lo","degr', 'ees":21}'];
const user = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] });
const joined = (events: readonly Fields[], type: string, field = "delta") =>
  events
    .filter((event) => event.type === type)
    .map((event) => event[field])
    .join("");

describe.each(providers)("$name", async (provider) => {
  const remote = await startProvider(provider.wire);
  const model = provider.model(remote.url);
  const server = await serveForTest({ agents: agentsOn(model, provider.model(await refusedAddress())) });

  test("text: the words, the finish reason and the usage", async () => {
    remote.behave(() => ({ kind: "answer", text: ["Hello ", "there"] }));
    const answer = dataOf(await server.post("/agents/helper/text", { input: "Hi" }));
    const step = { text: "Hello there", finishReason: "stop", usage, toolCalls: [], toolResults: [] };
    expect(answer).toEqual({ ...step, usage: { ...usage, calls: 1 }, steps: [step] });
    expect(remote.received).toHaveLength(1);
    expect(instructionsIn(remote.received[0])).toContain("Be brief.");
    expect(JSON.stringify(remote.received[0]?.body.messages)).toContain("Hi");
    expect(remote.received[0]?.body.stream).not.toBe(true);
  });

  test("text with options: the provider gets them", async () => {
    remote.behave(() => ({ kind: "answer", text: ["ok"] }));
    const options = { maxOutputTokens: 77, stopSequences: ["END"] };
    dataOf(await server.post("/agents/helper/text", { input: "Hi", options }));
    expect(remote.received[0]?.body).toMatchObject({ max_tokens: 77 });
    expect(JSON.stringify(remote.received[0]?.body)).toContain('["END"]');
  });

  test("text with a tool: the call is made, and its result goes back to the provider", async () => {
    remote.behave((_, number) =>
      number === 1
        ? { kind: "answer", text: ["Let me look."], calls: [call] }
        : { kind: "answer", text: ["21 degrees"] },
    );
    asked.length = 0;
    const answer = dataOf(await server.post("/agents/helper/text", { input: "Weather in Oslo?" }));
    const toolCall = { toolCallId: "call_1", toolName: "weather", input: { town: "Oslo" } };
    expect(answer).toMatchObject({
      text: "21 degrees",
      finishReason: "stop",
      usage: { inputTokens: 22, outputTokens: 14, totalTokens: 36, calls: 2 },
      toolCalls: [toolCall],
      toolResults: [{ ...toolCall, output: weather }],
    });
    expect(listOf(answer, "steps").map((step) => step.finishReason)).toEqual(["tool-calls", "stop"]);
    expect(asked).toEqual(["Oslo"]);
    expect(toolResultIn(remote.received[1])).toEqual({ id: "call_1", output: weather });
  });

  test("object: the provider gets the schema, the caller an object", async () => {
    remote.behave(() => ({ kind: "answer", text: pieces }));
    const answer = await server.post("/agents/helper/object", { input: "Weather", schema });
    expect(payloadOf(answer)).toEqual(weather);
    expect(schemaIn(remote.received[0])).toMatchObject({
      properties: schema.properties,
      required: schema.required,
    });
  });

  test("stream: every part, each with its fields", async () => {
    remote.behave(() => ({ kind: "answer", text: ["Hello ", "the", "re"] }));
    const told = await (await server.stream("/agents/helper/stream", { input: "Hi" })).rest();
    // A provider's package may have parts of its own.
    const parts = told.filter(({ type }) => type !== "custom");
    expect(parts.map(({ type }) => type)).toEqual([
      "start",
      "start-step",
      "text-start",
      ...["text-delta", "text-delta", "text-delta"],
      "text-end",
      "finish-step",
      "finish",
    ]);
    const [, , begun] = parts;
    const deltas = parts.filter(({ type }) => type === "text-delta");
    expect(deltas.map(({ delta, text, id }) => [delta, text, id])).toEqual(
      ["Hello ", "the", "re"].map((piece) => [piece, piece, begun?.id]),
    );
    expect(parts.at(-2)).toMatchObject({ finishReason: "stop", usage });
    expect(Object.keys(fieldsOf(parts.at(-2) ?? {}, "response")).sort()).toEqual([
      "id",
      "modelId",
      "timestamp",
    ]);
    expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: "stop", totalUsage: usage });
    expect(remote.received[0]?.body.stream).toBe(true);
  });

  test("stream-object: it grows, and the last line is the whole object", async () => {
    remote.behave(() => ({ kind: "answer", text: pieces }));
    const lines = await (
      await server.stream("/agents/helper/stream-object", { input: "Weather", schema })
    ).rest();
    expect(lines).toEqual([
      { type: "object-delta", object: {} },
      { type: "object-delta", object: { town: "Os" } },
      { type: "object-delta", object: { town: "Oslo" } },
      { type: "object-delta", object: weather },
      { type: "object", object: weather },
    ]);
    expect(schemaIn(remote.received[0])).toMatchObject({ properties: schema.properties });
  });

  test("chat with a tool: call, result and text in one message, and the next turn has all of it", async () => {
    remote.behave((_, number) =>
      number === 1 ? { kind: "answer", calls: [call] } : { kind: "answer", text: ["21 ", "degrees"] },
    );
    const id = "tool-chat";
    const first = { id, messages: [user("u1", "Weather in Oslo?")] };
    const chunks = await (await server.stream("/agents/helper/chat", first)).rest();
    const tool = { toolCallId: "call_1" };
    expect(chunks.filter(({ type }) => String(type).startsWith("tool-"))).toEqual([
      expect.objectContaining({ type: "tool-input-start", ...tool, toolName: "weather" }),
      ...chunks.filter(({ type }) => type === "tool-input-delta"),
      expect.objectContaining({ type: "tool-input-available", ...tool, input: { town: "Oslo" } }),
      { type: "tool-output-available", ...tool, output: weather },
    ]);
    expect(joined(chunks, "tool-input-delta", "inputTextDelta")).toBe(JSON.stringify(call.input));
    expect(joined(chunks, "text-delta")).toBe("21 degrees");
    expect(chunks.at(-2)).toMatchObject({ type: "finish", finishReason: "stop" });
    expect(chunks.at(-1)).toEqual({ type: "[DONE]" });
    expect(toolResultIn(remote.received[1])).toEqual({ id: "call_1", output: weather });

    remote.behave(() => ({ kind: "answer", text: ["You are welcome"] }));
    const next = await server.stream("/agents/helper/chat", { id, messages: [user("u2", "Thanks")] });
    expect(joined(await next.rest(), "text-delta")).toBe("You are welcome");
    expect(toolResultIn(remote.received[0])).toEqual({ id: "call_1", output: weather });
    expect(dataOf(await server.get(`/api/conversations/${id}`)).usage).toEqual({
      inputTokens: 33,
      outputTokens: 21,
      totalTokens: 54,
      calls: 3,
    });
  });
});

test("an object from a model of Anthropic's that answers by a tool", async () => {
  const remote = await startProvider(anthropicWire);
  const model = createAnthropic({ baseURL: remote.url, apiKey: "sk-1" })("claude-3-haiku-20240307");
  const server = await serveForTest({ agents: { old: new Agent({ id: "old", model }) } });
  remote.behave(() => ({ kind: "answer", calls: [{ id: "toolu_1", name: "json", input: weather }] }));
  const body = { input: "Weather", schema };
  expect(payloadOf(await server.post("/agents/old/object", body))).toEqual(weather);
  expect(remote.received[0]?.body).toMatchObject({
    tools: [{ name: "json" }],
    tool_choice: { type: "any" },
  });
  const lines = await (await server.stream("/agents/old/stream-object", body)).rest();
  expect(lines.at(-1)).toEqual({ type: "object", object: weather });
});

test("the provider's package is named by the agent, its key nowhere", async () => {
  const url = await refusedAddress();
  const server = await serveForTest({
    agents: { ...agentsOn(openai.model(url), anthropic.model(url)) },
  });
  expect(dataOf(await server.get("/agents/helper")).model).toBe("loopback.chat/loopback-1");
  expect(dataOf(await server.get("/agents/dead")).model).toBe("anthropic.messages/claude-sonnet-5");
  expect((await server.get("/agents/helper")).text).not.toContain("canary");
});

const list = (value: unknown): Fields[] => listOf({ value }, "value");

function instructionsIn(request: Received | undefined): string {
  const { system, messages } = request?.body ?? {};
  return JSON.stringify(system ?? list(messages).find(({ role }) => role === "system"));
}

function schemaIn(request: Received | undefined): unknown {
  const body = JSON.parse(JSON.stringify(request?.body ?? {}));
  return body.response_format?.json_schema?.schema ?? body.output_config?.format?.schema;
}

/** The result of a tool as either format carries it. */
function toolResultIn(request: Received | undefined): unknown {
  for (const { role, content, tool_call_id } of list(request?.body.messages)) {
    if (role === "tool") return { id: tool_call_id, output: JSON.parse(String(content)) };
    if (!Array.isArray(content)) continue;
    const result = list(content).find(({ type }) => type === "tool_result");
    if (result !== undefined) return { id: result.tool_use_id, output: JSON.parse(String(result.content)) };
  }
  return undefined;
}
