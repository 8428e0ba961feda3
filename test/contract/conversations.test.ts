// Conversations: the kept messages, who may see them, and the endpoints that show them

import { createClient } from "@andante/client";
import { Agent } from "@andante/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { echoModel, heldModel, shortModel } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, type Fields, fieldsOf, listOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const server = await serveForTest();

let made = 0;
const newId = () => `conversation-${++made}`;
const text = (agent: string, input: unknown, conversationId: string, options: Fields = {}) =>
  server.post(`/agents/${agent}/text`, { input, options: { conversationId, ...options } });
const messagesOf = async (conversationId: string, on = server) =>
  listOf(dataOf(await on.get(`/api/conversations/${conversationId}/messages?limit=500`)), "messages");
const textsOf = (messages: readonly Fields[]) =>
  messages.map((message) => [
    message.role,
    listOf(message, "parts")
      .map((part) => part.text ?? "")
      .join(""),
  ]);

test("with a conversation the history is loaded, and message and answer are kept", async () => {
  const id = newId();
  dataOf(await text("echo", "one", id));
  dataOf(await text("echo", "two", id));
  const prompt = echoModel.asked.at(-1)?.prompt.map(({ role }) => role);
  expect(prompt).toEqual(["system", "user", "assistant", "user"]);
  const messages = await messagesOf(id);
  expect(textsOf(messages)).toEqual([
    ["user", "one"],
    ["assistant", "You said: one"],
    ["user", "two"],
    ["assistant", "You said: two"],
  ]);
  for (const message of messages) expect(message).not.toHaveProperty("partial");
});

test("a summary is a message with the range that it replaces, and is removed by its owner", async () => {
  const model = controlledModel(({ prompt }) => ({
    text: [prompt[0]?.role === "system" ? "They greeted." : "A reply of some words, long enough to count."],
  }));
  const agents = { keeper: new Agent({ id: "keeper", model, memory: { compact: { above: 60, keep: 1 } } }) };
  const served = await serveForTest({ agents, auth: provider() });
  const [ada, eve] = [bearer(await tokenFor("ada")), bearer(await tokenFor("eve"))];
  const options = { conversationId: "long" };
  for (const input of ["one", "two", "three"])
    dataOf(await served.post("/agents/keeper/text", { input, options }, ada));
  const read = async () =>
    listOf(dataOf(await served.get("/api/conversations/long/messages", ada)), "messages");
  const messages = await read();
  const at = messages.findIndex(({ role }) => role === "system");
  const summary = messages[at] ?? {};
  expect(textsOf(messages)[at]).toEqual(["system", "They greeted."]);
  expect(summary.summary).toEqual({ from: messages[0]?.id, upTo: messages[at - 1]?.id, messages: at });
  expect(textsOf(messages)[at + 1]).toEqual(["user", "three"]);

  const path = (id: unknown) => `/api/conversations/long/summaries/${id}`;
  expect(errorOf(await served.send("DELETE", path(summary.id), undefined, eve), 404)).toContain("not found");
  errorOf(await served.send("DELETE", path(messages[0]?.id), undefined, ada), 404);
  errorOf(await served.send("DELETE", path("%00"), undefined, ada), 404);
  expect(dataOf(await served.send("DELETE", path(summary.id), undefined, ada))).toEqual({
    conversationId: "long",
    messageId: summary.id,
  });
  expect(await read()).toEqual(messages.filter(({ role }) => role !== "system"));
});

describe("facts", () => {
  const memory = (scope: "user" | "conversation") => {
    const schema = z.object({ name: z.string().optional(), age: z.number().optional() });
    return { facts: { schema, scope } };
  };
  const model = controlledModel(() => ({ text: ["Yes."] }));
  const agents = {
    knows: new Agent({ id: "knows", model, memory: memory("user") }),
    notes: new Agent({ id: "notes", model, memory: memory("conversation") }),
  };

  test("of a user are read, changed and removed by that user alone", async () => {
    const served = await serveForTest({ agents, auth: provider() });
    const [ada, eve] = [bearer(await tokenFor("ada")), bearer(await tokenFor("eve"))];
    const path = "/api/users/ada/facts";
    const patch = (facts: unknown, who = ada) => served.send("PATCH", path, { facts }, who);
    expect(dataOf(await patch({ name: "Ada", age: 36 }))).toMatchObject({ agentId: "knows", version: 1 });
    expect(dataOf(await patch({ age: null }))).toMatchObject({
      facts: { name: "Ada" },
      history: [
        { patch: { age: null }, by: "ada", changes: 1 },
        { patch: { name: "Ada", age: 36 }, by: "ada" },
      ],
    });
    expect(errorOf(await patch({ age: "old" }), 400)).toMatch(/^The facts are not kept: age: /);
    errorOf(await patch(["no object"]), 400);
    for (const answer of [
      await patch({}, eve),
      await served.get(path, eve),
      await served.send("DELETE", path, undefined, eve),
    ])
      errorOf(answer, 403);
    errorOf(await served.get(path), 401);
    const read = async () => listOf(dataOf(await served.get(path, ada)), "facts");
    expect(await read()).toMatchObject([{ agentId: "knows", facts: { name: "Ada" }, version: 2 }]);

    const andante = createClient({ baseUrl: served.url, headers: ada });
    expect(await andante.factsOf("ada").change({ age: 37 }, { agentId: "knows" })).toMatchObject({
      version: 3,
    });
    expect(await andante.factsOf("ada").read()).toMatchObject([{ facts: { name: "Ada", age: 37 } }]);
    await andante.factsOf("ada").remove();
    expect(await read()).toMatchObject([{ facts: {}, version: 0, updatedAt: null, history: [] }]);
  });

  test("of a conversation belong to its user", async () => {
    const served = await serveForTest({ agents, auth: provider() });
    const [ada, eve] = [bearer(await tokenFor("ada")), bearer(await tokenFor("eve"))];
    const path = "/api/conversations/noted/facts";
    errorOf(await served.get(path, ada), 404);
    dataOf(
      await served.post("/agents/notes/text", { input: "hi", options: { conversationId: "noted" } }, ada),
    );
    dataOf(await served.send("PATCH", path, { facts: { name: "Ada" } }, ada));
    errorOf(await served.get(path, eve), 404);
    errorOf(await served.send("PATCH", path, { facts: {} }, eve), 404);
    const andante = createClient({ baseUrl: served.url, headers: ada });
    expect(await andante.conversation("noted").facts.read()).toMatchObject([
      { agentId: "notes", facts: { name: "Ada" } },
    ]);
  });
});

test("without one nothing is kept, and an agent without memory keeps nothing either", async () => {
  const before = listOf(dataOf(await server.get("/api/conversations?limit=500")), "conversations").length;
  dataOf(await server.post("/agents/echo/text", { input: "hi" }));
  dataOf(await text("forgetful", "hi", newId()));
  expect(listOf(dataOf(await server.get("/api/conversations?limit=500")), "conversations")).toHaveLength(
    before,
  );
});

test("every way of asking keeps its answer", async () => {
  const id = newId();
  const options = { conversationId: id };
  const tooled = await server.stream("/agents/adder/stream", { input: "add", options });
  await tooled.rest();
  dataOf(
    await server.post("/agents/object/object", { input: '{"a":1}', schema: { type: "object" }, options }),
  );
  await (
    await server.stream("/agents/object/stream-object", { input: "[2]", schema: { type: "array" }, options })
  ).rest();
  const messages = await messagesOf(id);
  expect(messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
    "assistant",
  ]);
  const parts = listOf(messages[1] ?? {}, "parts");
  expect(parts).toContainEqual(
    expect.objectContaining({ type: "tool-add", state: "output-available", output: 3 }),
  );
  expect(textsOf(messages)[3]).toEqual(["assistant", '{"a":1}']);
  expect(textsOf(messages)[5]).toEqual(["assistant", "[2]"]);
});

test("a whole answer and a streamed one keep the same message", async () => {
  const [whole, streamed] = [newId(), newId()];
  await text("adder", "add", whole);
  await (
    await server.stream("/agents/adder/stream", { input: "add", options: { conversationId: streamed } })
  ).rest();
  const partsOf = async (id: string) => listOf((await messagesOf(id))[1] ?? {}, "parts");
  expect(await partsOf(whole)).toEqual(await partsOf(streamed));
});

test("the model sees a window of the newest messages, from a user's message on", async () => {
  const id = newId();
  for (let n = 1; n <= 4; n++) await text("short", `m${n}`, id);
  // Of m1 a1 m2 a2 m3 a3 m4 the newest three are m3 a3 m4.
  expect(shortModel.asked.at(-1)?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(await messagesOf(id)).toHaveLength(8);
});

test("the user's message is committed before the model is asked, the answer after it", async () => {
  const id = newId();
  const answer = text("held", "commit-order", id);
  await gates.arrival("commit-order");
  expect(textsOf(await messagesOf(id))).toEqual([["user", "commit-order"]]);
  gates.open("commit-order");
  await answer;
  expect(textsOf(await messagesOf(id))).toHaveLength(2);
});

test("the message stays when the provider fails, and asking it again answers it", async () => {
  const id = newId();
  const input = [{ id: "m1", role: "user", parts: [{ type: "text", text: "500" }] }];
  errorOf(await text("failing", input, id), 502);
  expect(textsOf(await messagesOf(id))).toEqual([["user", "500"]]);
  dataOf(await text("echo", input, id));
  expect(textsOf(await messagesOf(id))).toEqual([
    ["user", "500"],
    ["assistant", "You said: 500"],
  ]);
  expect(errorOf(await text("echo", input, id), 409)).toBe("Message m1 already has a reply");
});

test("an answer that breaks off is kept as a partial one", async () => {
  const id = newId();
  await (await server.stream("/agents/cut/stream", { input: "x", options: { conversationId: id } })).rest();
  const messages = await messagesOf(id);
  expect(textsOf(messages)).toEqual([
    ["user", "x"],
    ["assistant", "half an "],
  ]);
  expect(messages[1]?.partial).toBe(true);
});

test("a client that leaves a stream leaves a partial reply, and the conversation continues", async () => {
  const id = newId();
  const reader = await server.stream("/agents/held/stream", {
    input: "leave",
    options: { conversationId: id },
  });
  await reader.until("text-delta");
  await gates.arrival("leave");
  await reader.drop();
  await expect
    .poll(async () => textsOf(await messagesOf(id)))
    .toEqual([
      ["user", "leave"],
      ["assistant", "first "],
    ]);
  dataOf(await text("echo", "and now", id));
  expect(echoModel.asked.at(-1)?.prompt.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "user",
  ]);
});

test("of two posts to one conversation the second waits for the first, and sees its answer", async () => {
  const id = newId();
  const first = text("held", "in-turn", id);
  await gates.arrival("in-turn");
  const second = text("echo", "me too", id);
  expect(heldModel.asked.length).toBeGreaterThan(0);
  gates.open("in-turn");
  dataOf(await first);
  dataOf(await second);
  expect(textsOf(await messagesOf(id))).toEqual([
    ["user", "in-turn"],
    ["assistant", "first second third"],
    ["user", "me too"],
    ["assistant", "You said: me too"],
  ]);
});

test("many posts at once are answered one after the other, each kept once", async () => {
  const id = newId();
  const input = (n: number) => [{ id: `m${n}`, role: "user", parts: [{ type: "text", text: `n${n}` }] }];
  await Promise.all(Array.from({ length: 8 }, (_, n) => text("echo", input(n), id)));
  const said = textsOf(await messagesOf(id));
  expect(said).toHaveLength(16);
  for (let n = 0; n < 16; n += 2) expect(said[n + 1]).toEqual(["assistant", `You said: ${said[n]?.[1]}`]);
});

test("usage is summed for the conversation", async () => {
  const id = newId();
  await text("adder", "add", id);
  await text("echo", "x", id);
  const conversation = dataOf(await server.get(`/api/conversations/${id}`));
  expect(conversation.usage).toEqual({ inputTokens: 30, outputTokens: 15, totalTokens: 45, calls: 3 });
  expect(conversation).toMatchObject({ conversationId: id, agentId: "adder", userId: null, title: "add" });
});

test("a conversation is listed, renamed and removed", async () => {
  const id = newId();
  await text("echo", `${"long ".repeat(40)}text`, id);
  const listed = listOf(dataOf(await server.get("/api/conversations?agentId=echo&limit=1")), "conversations");
  expect(listed).toMatchObject([{ conversationId: id }]);
  expect(String(listed[0]?.title)).toHaveLength(80);
  const renamed = dataOf(await server.send("PATCH", `/api/conversations/${id}`, { title: "Short" }));
  expect(renamed.title).toBe("Short");
  for (const title of ["", "  ", "x".repeat(201), 7]) {
    errorOf(await server.send("PATCH", `/api/conversations/${id}`, { title }), 400);
  }
  expect(dataOf(await server.send("DELETE", `/api/conversations/${id}`))).toEqual({ conversationId: id });
  const gone = `Conversation ${id} not found`;
  expect(errorOf(await server.get(`/api/conversations/${id}`), 404)).toBe(gone);
  expect(errorOf(await server.get(`/api/conversations/${id}/messages`), 404)).toBe(gone);
  expect(errorOf(await server.send("PATCH", `/api/conversations/${id}`, { title: "x" }), 404)).toBe(gone);
  expect(errorOf(await server.send("DELETE", `/api/conversations/${id}`), 404)).toBe(gone);
});

test("a conversation has metadata, and is found by a part of its title", async () => {
  const id = newId();
  await text("echo", `About Ferries ${id}`, id);
  const changed = await server.send("PATCH", `/api/conversations/${id}`, { metadata: { topic: "sea" } });
  expect(dataOf(changed)).toMatchObject({ metadata: { topic: "sea" }, title: `About Ferries ${id}` });
  const found = dataOf(await server.get(`/api/conversations?title=${encodeURIComponent(`FERRIES ${id}`)}`));
  expect(listOf(found, "conversations")).toMatchObject([{ conversationId: id, metadata: { topic: "sea" } }]);
  expect(listOf(dataOf(await server.get("/api/conversations?title=nowhere")), "conversations")).toEqual([]);
  errorOf(await server.send("PATCH", `/api/conversations/${id}`, {}), 400);
  errorOf(await server.send("PATCH", `/api/conversations/${id}`, { metadata: [] }), 400);
  errorOf(
    await server.send("PATCH", `/api/conversations/${id}`, { metadata: { x: "y".repeat(16_000) } }),
    400,
  );
});

test("a fork begins with the messages up to one of them, and an export has all of them", async () => {
  const id = newId();
  for (const said of ["one", "two"]) await text("echo", said, id);
  const messages = await messagesOf(id);
  const path = `/api/conversations/${id}`;
  const forkId = newId();
  const body = { conversationId: forkId, upTo: messages[1]?.id };
  expect(dataOf(await server.post(`${path}/fork`, body))).toMatchObject({
    conversationId: forkId,
    title: "one",
  });
  await text("echo", "three", forkId);
  expect(textsOf(await messagesOf(forkId)).map(([, said]) => said)).toEqual([
    "one",
    "You said: one",
    "three",
    "You said: three",
  ]);
  expect(await messagesOf(id)).toEqual(messages);
  errorOf(await server.post(`${path}/fork`, { conversationId: forkId }), 409);
  errorOf(await server.post(`${path}/fork`, { upTo: "nobody" }), 400);
  errorOf(await server.post("/api/conversations/nobody/fork", {}), 404);
  const exported = await fetch(`${server.url}${path}/export`);
  expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
  const lines = (await exported.text())
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { type: "conversation", conversation: { conversationId: id } },
    {},
    {},
    {},
    {},
  ]);
  expect(lines.slice(1).map(({ message }) => message)).toEqual(messages);
  errorOf(await server.get("/api/conversations/nobody/export"), 404);
});

test("messages are read newest first on request", async () => {
  const id = newId();
  for (let n = 0; n < 3; n++) await text("echo", `p${n}`, id);
  const first = dataOf(await server.get(`/api/conversations/${id}/messages?order=newest&limit=4`));
  const rest = `order=newest&limit=4&cursor=${first.nextCursor}`;
  const second = dataOf(await server.get(`/api/conversations/${id}/messages?${rest}`));
  const read = [...listOf(first, "messages"), ...listOf(second, "messages")];
  expect(read.toReversed()).toEqual(await messagesOf(id));
  expect(second.nextCursor).toBeNull();
  const refused = errorOf(await server.get(`/api/conversations/${id}/messages?order=random`), 400);
  expect(refused).toContain("order: ");
});

test("lists and messages are read page by page", async () => {
  const id = newId();
  for (let n = 0; n < 3; n++) await text("echo", `p${n}`, id);
  const read: Fields[] = [];
  let cursor = "";
  do {
    const page = dataOf(await server.get(`/api/conversations/${id}/messages?limit=4${cursor}`));
    read.push(...listOf(page, "messages"));
    cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
  } while (cursor !== "" && read.length < 100);
  expect(read).toEqual(await messagesOf(id));
  const first = dataOf(await server.get("/api/conversations?limit=1"));
  const second = dataOf(await server.get(`/api/conversations?limit=1&cursor=${first.nextCursor}`));
  expect(listOf(second, "conversations")).not.toEqual(listOf(first, "conversations"));
  for (const bad of ["cursor=x", "cursor=WzFd", "limit=0", "limit=501"]) {
    errorOf(await server.get(`/api/conversations?${bad}`), 400);
  }
  errorOf(await server.get(`/api/conversations/${id}/messages?cursor=WyJhIl0`), 400);
});

test("removing a conversation stops the reply in it, and nothing restores it", async () => {
  const id = newId();
  const reader = await server.stream("/agents/held/chat", { id, messages: [userMessage("u1", "removed")] });
  await reader.until("text-delta");
  dataOf(await server.send("DELETE", `/api/conversations/${id}`));
  expect((await reader.rest()).at(-1)).toEqual({ type: "[DONE]" });
  errorOf(await server.get(`/api/conversations/${id}`), 404);
});

const userMessage = (id: string, said: string) => ({
  id,
  role: "user",
  parts: [{ type: "text", text: said }],
});

test("conversations survive a restart", async () => {
  const file = temporaryFile();
  const before = await serveForTest({ store: file.open() });
  const options = { conversationId: "kept" };
  dataOf(await before.post("/agents/echo/text", { input: "remember", options }));
  await before.close();
  const after = await serveForTest({ store: file.open() });
  expect(textsOf(await messagesOf("kept", after))).toHaveLength(2);
  await after.post("/agents/echo/text", { input: "more", options });
  expect(textsOf(await messagesOf("kept", after))).toHaveLength(4);
});

describe("with authentication", async () => {
  const guarded = await serveForTest({ auth: provider() });
  const ada = bearer(await tokenFor("ada"));
  const eve = bearer(await tokenFor("eve"));
  const body = { input: "my secret", options: { conversationId: "hers", userId: "eve" } };
  dataOf(await guarded.post("/agents/echo/text", body, ada));

  test("a conversation belongs to the token's user, not to the one in the body", async () => {
    expect(dataOf(await guarded.get("/api/conversations/hers", ada)).userId).toBe("ada");
  });

  test("another user's is treated as missing: to read, to change, and to talk in", async () => {
    const gone = "Conversation hers not found";
    expect(errorOf(await guarded.get("/api/conversations/hers", eve), 404)).toBe(gone);
    expect(errorOf(await guarded.get("/api/conversations/hers/messages", eve), 404)).toBe(gone);
    expect(errorOf(await guarded.send("PATCH", "/api/conversations/hers", { title: "x" }, eve), 404)).toBe(
      gone,
    );
    expect(errorOf(await guarded.send("DELETE", "/api/conversations/hers", undefined, eve), 404)).toBe(gone);
    const options = { conversationId: "hers" };
    const asked = echoModel.asked.length;
    for (const [route, more] of [
      ["text", {}],
      ["object", { schema: {} }],
      ["stream", {}],
      ["stream-object", { schema: {} }],
      ["chat", {}],
    ] as const) {
      const answer = await guarded.post(`/agents/echo/${route}`, { input: "tell me", options, ...more }, eve);
      expect(errorOf(answer, 404)).toBe(gone);
    }
    expect(echoModel.asked).toHaveLength(asked);
    const messages = dataOf(await guarded.get("/api/conversations/hers/messages", ada));
    expect(listOf(messages, "messages")).toHaveLength(2);
  });

  test("lists show a caller its own, unless the host decides otherwise", async () => {
    const idsFor = async (on: TestServer, headers: Record<string, string>, query = "") =>
      listOf(dataOf(await on.get(`/api/conversations${query}`, headers)), "conversations").map(
        (each) => each.conversationId,
      );
    expect(await idsFor(guarded, ada)).toEqual(["hers"]);
    expect(await idsFor(guarded, eve)).toEqual([]);
    expect(await idsFor(guarded, eve, "?userId=ada")).toEqual([]);
    const open = await serveForTest({
      auth: provider(),
      authorize: ({ userId }) => (userId === "eve" ? true : "own"),
    });
    await open.post("/agents/echo/text", { input: "x", options: { conversationId: "hers" } }, ada);
    expect(await idsFor(open, eve)).toEqual(["hers"]);
    expect(await idsFor(open, eve, "?userId=nobody")).toEqual([]);
    dataOf(await open.get("/api/conversations/hers", eve));
    const third = bearer(await tokenFor("bob"));
    expect(await idsFor(open, third)).toEqual([]);
    errorOf(await open.get("/api/conversations/hers", third), 404);
  });

  test("without a token nothing is shown", async () => {
    for (const path of ["", "/hers", "/hers/messages"])
      errorOf(await guarded.get(`/api/conversations${path}`), 401);
    expect(fieldsOf(dataOf(await guarded.get("/api/conversations/hers", ada)), "usage").calls).toBe(1);
  });
});
