// /api/agents/:id/playground: replies with another model, temperature or instructions, for those who may

import { createClient } from "@andante/client";
import { Agent } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { ToolLoopAgent } from "ai";
import { describe, expect, test } from "vitest";
import { dataOf, errorOf, type Fields, listOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

/** Says its name, its temperature and its system prompt. */
const named = (name: string) =>
  Object.assign(
    scriptedModel(
      Array.from({ length: 20 }, () => ({ prompt, temperature }: Parameters<LanguageCall>[0]) => {
        const [first] = prompt;
        return `${name} ${temperature} ${first?.role === "system" ? first.content : ""}`;
      }),
    ),
    { modelId: name },
  );
type LanguageCall = Extract<Parameters<typeof scriptedModel>[0][number], (...given: never[]) => unknown>;

const agents = () => ({
  guide: new Agent({
    ...{ id: "guide", model: named("own"), instructions: "Be plain.", temperature: 0.3 },
    playground: { models: { other: named("other") } },
  }),
  off: new Agent({ id: "off", model: named("own"), playground: false }),
  foreign: new ToolLoopAgent({ id: "foreign", model: named("own") }),
});

const path = "/api/agents/guide/playground";
const playground = { model: "other", temperature: 1.5, instructions: "Be a pirate." };
const message = (id: string) => ({ id, role: "user", parts: [{ type: "text", text: "hello" }] });
const asking = (id: string, settings: Fields | undefined) => ({
  ...{ id, messages: [message("u1")], playground: settings },
});

async function replyOf(server: TestServer, id: string, headers: Record<string, string> = {}) {
  const messages = listOf(dataOf(await server.get(`/api/conversations/${id}/messages`, headers)), "messages");
  return listOf(messages.at(-1) ?? {}, "parts").flatMap(({ text }) => text ?? []);
}

describe("without authentication", async () => {
  const server = await serveForTest({ agents: agents() });

  test("its choices are the host's models beside the agent's own settings", async () => {
    expect(dataOf(await server.get(path))).toEqual({
      ...{ model: "andante/own", models: ["other"], temperature: 0.3, instructions: "Be plain." },
    });
    for (const id of ["off", "foreign"]) {
      const refused = await server.get(`/api/agents/${id}/playground`);
      expect(errorOf(refused, 404)).toBe(`Agent ${id} has no playground`);
      expect((await server.post(`/api/agents/${id}/playground`, asking("c-0", playground))).status).toBe(404);
    }
    expect((await server.get("/api/agents/nobody/playground")).status).toBe(404);
  });

  test("one reply has the changes and the next one does not", async () => {
    const chat = await server.stream(path, asking("c-1", playground));
    expect(chat.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    await chat.rest();
    expect(await replyOf(server, "c-1")).toEqual(["other 1.5 Be a pirate."]);
    await (await server.stream("/agents/guide/chat", { id: "c-1", messages: [message("u2")] })).rest();
    expect(await replyOf(server, "c-1")).toEqual(["own 0.3 Be plain."]);
    await (await server.stream(path, asking("c-2", undefined))).rest();
    expect(await replyOf(server, "c-2"), "nothing is changed").toEqual(["own 0.3 Be plain."]);
  });

  test("the chat of the contract, and other calls, know no such field", async () => {
    await (await server.stream("/agents/guide/chat", asking("c-3", playground))).rest();
    expect(await replyOf(server, "c-3")).toEqual(["own 0.3 Be plain."]);
    const body = { input: "hello", options: { playground }, playground };
    expect(dataOf(await server.post("/agents/guide/text", body)).text).toBe("own 0.3 Be plain.");
  });

  test.each<[string, Fields, string]>([
    ["a model that the host does not list", { model: "openai/gpt-5" }, "does not offer it"],
    ["a temperature out of range", { temperature: 2.1 }, "temperature"],
    ["instructions that are too long", { instructions: "x".repeat(100_001) }, "instructions"],
  ])("%s is 400, and nothing is kept", async (_, settings, words) => {
    expect(errorOf(await server.post(path, asking("c-4", settings)), 400)).toContain(words);
    expect((await server.get("/api/conversations/c-4")).status).toBe(404);
  });

  test("the client's chat has it", async () => {
    const guide = createClient({ baseUrl: server.url }).agent("guide");
    expect((await guide.playground()).models).toEqual(["other"]);
    for await (const _ of guide.chat("hello", { conversationId: "c-5", playground }));
    expect(await replyOf(server, "c-5")).toEqual(["other 1.5 Be a pirate."]);
    for await (const _ of guide.chat("hello", { conversationId: "c-5" }));
    expect(await replyOf(server, "c-5")).toEqual(["own 0.3 Be plain."]);
  });
});

test("with authentication and no authorize, no one may; chats are not affected", async () => {
  const server = await serveForTest({ agents: agents(), auth: provider() });
  const ada = bearer(await tokenFor("ada"));
  expect((await server.get(path)).status).toBe(401);
  expect(errorOf(await server.get(path, ada), 403)).toBe("Not allowed: agents.playground");
  expect(errorOf(await server.post(path, asking("c-1", playground), ada), 403)).toContain(
    "agents.playground",
  );
  await (await server.stream("/agents/guide/chat", asking("c-2", playground), ada)).rest();
  expect(await replyOf(server, "c-2", ada)).toEqual(["own 0.3 Be plain."]);
});

test("authorize decides, by agent and conversation; a user who may not chat may not chat in it either", async () => {
  const asked: unknown[] = [];
  const server = await serveForTest({
    agents: agents(),
    auth: provider(),
    authorize: ({ userId, action, resource }) => {
      if (action === "agents.playground") asked.push([userId, resource]);
      if (action === "agents.chat") return userId !== "carol";
      // What is the caller's own is not enough.
      return action === "agents.playground" && userId === "bob" ? "own" : true;
    },
  });
  const [ada, bob, carol] = await Promise.all(
    ["ada", "bob", "carol"].map(async (id) => bearer(await tokenFor(id))),
  );
  expect((await server.get(path, bob)).status).toBe(403);
  expect((await server.post(path, asking("c-1", playground), bob)).status).toBe(403);
  expect((await server.get(path, carol)).status).toBe(200);
  expect(errorOf(await server.post(path, asking("c-1", playground), carol), 403)).toContain("agents.chat");
  expect((await server.get("/api/conversations/c-1", ada)).status, "nothing was kept").toBe(404);
  await (await server.stream(path, asking("c-1", playground), ada)).rest();
  expect(await replyOf(server, "c-1", ada)).toEqual(["other 1.5 Be a pirate."]);
  const guide = { id: "guide", agentId: "guide" };
  expect(asked).toContainEqual(["bob", guide]);
  expect(asked).toContainEqual(["ada", { ...guide, conversationId: "c-1" }]);
});
