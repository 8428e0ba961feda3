// Tool calls whose ids a provider repeats, its own searches among them: each result stays with its call.
import { createAnthropic } from "@ai-sdk/anthropic";
import { Agent } from "@andante/core";
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf, type Fields, listOf, payloadOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { anthropicWire } from "./anthropic-wire.ts";
import { type Behaviour, type Received, startProvider } from "./provider-server.ts";

const id = "srvtoolu_1";
const search = (query: string) => ({ id, query });
const replies: readonly Behaviour[] = [
  {
    kind: "answer",
    searches: [search("first"), search("second")],
    calls: [{ id, name: "weather", input: { town: "Oslo" } }],
  },
  { kind: "answer", text: ["done"], searches: [search("third")] },
];

async function talkingServer() {
  const remote = await startProvider(anthropicWire);
  const provider = createAnthropic({ baseURL: remote.url, apiKey: "sk-1" });
  const weather = tool({
    inputSchema: z.object({ town: z.string() }),
    execute: ({ town }) => `sun in ${town}`,
  });
  const tools = { weather, web_search: provider.tools.webSearch_20250305({}) };
  const helper = new Agent({ id: "helper", model: provider("claude-sonnet-5"), tools, maxRetries: 0 });
  const server = await serveForTest({ agents: { helper } });
  remote.behave((_, number) => replies[number - 1] ?? { kind: "answer", text: ["welcome"] });
  return { remote, server };
}

/** Input and output of each call, by its id. */
type Calls = Record<string, { input?: unknown; output?: unknown }>;

const page = (query: string) => [{ url: `https://pages.example/${query}` }];
const expected = {
  srvtoolu_1: { input: { query: "first" }, output: page("first") },
  srvtoolu_1_2: { input: { query: "second" }, output: page("second") },
  srvtoolu_1_3: { input: { town: "Oslo" }, output: "sun in Oslo" },
  srvtoolu_1_4: { input: { query: "third" }, output: page("third") },
};

/** The calls of the conversation as the provider gets them with the next message. */
function callsIn(request: Received | undefined): Calls {
  const calls: Calls = {};
  const contents = listOf({ value: request?.body.messages }, "value").map(({ content }) => content);
  for (const block of contents.flatMap((content) =>
    Array.isArray(content) ? listOf({ content }, "content") : [],
  )) {
    const { type, id: called, tool_use_id: of, input, content } = block;
    if (type === "tool_use" || type === "server_tool_use") {
      expect(calls, "an id is sent once").not.toHaveProperty([String(called)]);
      calls[String(called)] = { input };
    } else if (of !== undefined) calls[String(of)] = { ...calls[String(of)], output: content };
  }
  return calls;
}

const callsOf = (parts: readonly Fields[]): Calls =>
  Object.fromEntries(
    parts
      .filter(({ toolCallId }) => toolCallId !== undefined)
      .map(({ toolCallId, input, output }) => [String(toolCallId), { input, output }]),
  );

const user = (messageId: string) => ({ id: messageId, role: "user", parts: [{ type: "text", text: "go" }] });

test("in a chat: in the stream, in the kept message, and in the next request", async () => {
  const { remote, server } = await talkingServer();
  const body = { id: "talk", messages: [user("u1")] };
  const chunks = await (await server.stream("/agents/helper/chat", body)).rest();
  const streamed: Calls = {};
  for (const { type, toolCallId, input, output } of chunks) {
    if (type === "tool-input-available") streamed[String(toolCallId)] = { input };
    if (type === "tool-output-available")
      streamed[String(toolCallId)] = { ...streamed[String(toolCallId)], output };
  }
  expect(streamed).toMatchObject(expected);
  const kept = listOf(dataOf(await server.get("/api/conversations/talk/messages")), "messages");
  expect(callsOf(listOf(kept.at(-1) ?? {}, "parts"))).toMatchObject(expected);
  await (await server.stream("/agents/helper/chat", { id: "talk", messages: [user("u2")] })).rest();
  expect(Object.keys(callsIn(remote.received[2]))).toEqual(Object.keys(expected));
  expect(callsIn(remote.received[2])).toMatchObject(expected);
});

test("in a reply that comes at once, and in the next request", async () => {
  const { remote, server } = await talkingServer();
  const options = { conversationId: "talk" };
  payloadOf(await server.post("/agents/helper/text", { input: "go", options }));
  payloadOf(await server.post("/agents/helper/text", { input: "thanks", options }));
  expect(callsIn(remote.received[2])).toMatchObject(expected);
});
