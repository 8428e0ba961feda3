// Who may use A2A: the same authentication, owners and policy as over HTTP.
import { Agent, memoryStore } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { createApp } from "@andante/server";
import { expect, test } from "vitest";
import { echo, echoModel } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { workflows } from "../support/workflows.ts";
import { a2aClient, messageOf } from "./client.ts";

const a2a = { expose: ["echo", "approval", "mirror", "held"] };
const cardPath = "/.well-known/agent-card.json";
const clientOf = async (url: string, agentId: string, user: string) =>
  a2aClient(url, agentId, bearer(await tokenFor(user)));

test("with authentication a request needs a token, and the public card names the scheme", async () => {
  const auth = { ...provider(), issuer: "https://login.example" };
  const { url, get } = await serveForTest({ auth, a2a });
  const refused = await a2aClient(url, "echo").post("{}");
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  const { status, text, headers } = await get(cardPath);
  const card = JSON.parse(text);
  expect([status, card]).toMatchObject([
    200,
    {
      supportedInterfaces: [{ url: `${url}/a2a/echo`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      securitySchemes: {
        bearer: {
          httpAuthSecurityScheme: { scheme: "Bearer", description: "A token of https://login.example" },
        },
      },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    },
  ]);
  const again = await get(cardPath, { "if-none-match": headers.get("etag") ?? "" });
  expect([again.status, again.text]).toEqual([304, ""]);
  expect((await (await clientOf(url, "echo", "ada")).say([{ text: "hi" }])).error).toBeUndefined();
});

test("each exposed agent has a card, and no other has a card or an address", async () => {
  const { url, get, post } = await serveForTest({ a2a: { ...a2a, url: "https://ai.example/x/" } });
  const { text } = await get(`/a2a/approval${cardPath}`);
  const card = JSON.parse(text);
  expect(card.supportedInterfaces[0].url).toBe("https://ai.example/x/a2a/approval");
  expect(card.securitySchemes).toBeUndefined();
  for (const id of ["careful", "toString", "__proto__"])
    expect([(await get(`/a2a/${id}${cardPath}`)).status, (await post(`/a2a/${id}`, {})).status]).toEqual([
      404, 404,
    ]);
  expect((await a2aClient(url, "echo").say([{ text: "hi" }])).error).toBeUndefined();
  const without = await serveForTest();
  expect([(await without.get(cardPath)).status, (await without.post("/a2a/echo", {})).status]).toEqual([
    404, 404,
  ]);
});

test.each([
  [{ expose: ["unknown"] }, "a2a.expose"],
  [{ expose: "echo" }, "a2a.expose"],
  [{ expose: [], wait: -1 }, "a2a.wait"],
  [{ expose: [], url: "ftp://x" }, "a2a.url"],
  [{ expose: [], names: {} }, "a2a"],
])("the options %j are refused", (wrong, named) => {
  const options = { workflows, store: memoryStore(), logger: new RecordingLogger() };
  expect(() => createApp({ ...options, a2a: wrong as never })).toThrow(named);
});

test.each([
  [[], true],
  [[`GET ${cardPath}`, "GET /a2a/*"], false],
])(
  "where every route is private, a start with the public routes %j warns: %s",
  async (publicRoutes, warns) => {
    const logger = new RecordingLogger();
    await serveForTest({ auth: provider({ defaultPrivate: true, publicRoutes }), a2a, logger });
    const warned = logger.lines.filter(({ msg }) =>
      String(msg).includes("clients of A2A cannot find agents"),
    );
    const entries = `list "GET ${cardPath}" and "GET /a2a/*" in publicRoutes`;
    expect(warned.map(({ msg }) => String(msg).includes(entries))).toEqual(warns ? [true] : []);
  },
);

test("a task belongs to the user of the token, and another user finds none", async () => {
  const { url } = await serveForTest({ auth: provider(), a2a });
  for (const [agentId, part] of [
    ["approval", { data: { topic: "tea" } }],
    ["echo", { text: "secret" }],
  ] as const) {
    const [ada, bob] = [await clientOf(url, agentId, "ada"), await clientOf(url, agentId, "bob")];
    const { task } = (await ada.say([part])).result;
    const { id: taskId, contextId } = task;
    for (const [method, params] of [
      ["GetTask", { id: taskId }],
      ["CancelTask", { id: taskId }],
      ["SubscribeToTask", { id: taskId }],
      ["SendMessage", { message: messageOf([part], { taskId }) }],
      ["SendStreamingMessage", { message: messageOf([part], { taskId }) }],
    ] as const)
      expect([method, (await bob.send(method, params)).error?.code]).toEqual([method, -32_001]);
    expect((await bob.send("ListTasks", { contextId })).result.tasks).toEqual([]);
    expect((await bob.send("ListTasks")).result.tasks).toEqual([]);
    expect((await ada.send("ListTasks")).result.tasks).toMatchObject([{ id: taskId, contextId }]);
    expect((await ada.send("ListTasks", { contextId })).result.tasks).toMatchObject([{ id: taskId }]);
  }
  // Bob's message into Ada's conversation is refused, and begins no other.
  const [ada, bob] = [await clientOf(url, "echo", "ada"), await clientOf(url, "echo", "bob")];
  const { contextId } = (await ada.say([{ text: "mine" }])).result.task;
  expect((await bob.say([{ text: "hers" }], { contextId })).error?.code).toBe(-32_602);
  const mirror = await clientOf(url, "mirror", "ada");
  const [{ parts }] = (await mirror.say([{ data: 1 }])).result.task.artifacts;
  expect(parts[0].data).toMatchObject({ data: 1, userId: "ada", context: { user: { id: "ada" } } });
});

test("tasks are listed by pages, by their status and by the time of it", async () => {
  const { url } = await serveForTest({ a2a });
  for (const [agentId, parts] of [
    ["approval", [1, 2, 3].map((topic) => ({ data: { topic: `tea ${topic}` } }))],
    ["echo", ["one", "two", "three"].map((text) => ({ text }))],
  ] as const) {
    const { say, send, task } = a2aClient(url, agentId);
    const ids: string[] = [];
    for (const part of parts) ids.push((await say([part])).result.task.id);
    const list = async (params: object) => (await send("ListTasks", { ...params })).result;
    const idsOf = async (params: object) => (await list(params)).tasks.map(({ id }: { id: string }) => id);
    const first = await list({ pageSize: 2 });
    const second = await list({ pageSize: 2, pageToken: first.nextPageToken });
    const listed = [...first.tasks, ...second.tasks].map(({ id }: { id: string }) => id);
    expect([first.tasks.length, listed, second.nextPageToken]).toEqual([2, ids.toReversed(), ""]);
    const { state, timestamp } = (await task(ids[0])).status;
    expect(await idsOf({ status: state })).toEqual(ids.toReversed());
    expect(await idsOf({ status: "TASK_STATE_CANCELED" })).toEqual([]);
    expect(await idsOf({ statusTimestampAfter: timestamp })).toContain(ids[2]);
    expect(await idsOf({ statusTimestampAfter: "2999-01-01T00:00:00Z" })).toEqual([]);
    expect(await idsOf({ statusTimestampAfter: "2000-01-01T00:00:00+02:00" })).toEqual(ids.toReversed());
  }
});

test("an agent shows the replies of its own conversations alone", async () => {
  const { url, post } = await serveForTest({ a2a: { expose: ["echo", "held"] } });
  const [echo, held] = [a2aClient(url, "echo"), a2aClient(url, "held")];
  const { id: taskId, contextId } = (await echo.say([{ text: "hi" }])).result.task;
  for (const method of ["GetTask", "CancelTask", "SubscribeToTask"])
    expect([method, (await held.send(method, { id: taskId })).error?.code]).toEqual([method, -32_001]);
  expect((await held.send("ListTasks", { contextId })).result.tasks).toEqual([]);
  expect((await held.say([{ text: "hi" }], { contextId })).error).toMatchObject({ code: -32_602 });
  // An agent that is not exposed has no tasks.
  const hidden = { input: [{ id: "u1", role: "user", parts: [{ type: "text", text: "hi" }] }] };
  const options = { conversationId: "hidden" };
  expect((await post("/agents/careful/text", { ...hidden, options })).status).toBe(200);
  expect((await echo.send("GetTask", { id: "hidden/u1" })).error?.code).toBe(-32_001);
  expect((await echo.send("GetTask", { id: taskId })).result).toMatchObject({ id: taskId });
});

test("a context that two agents begin at once belongs to one of them, and the other is refused", async () => {
  const second = new Agent({ id: "second", instructions: "Repeat it.", model: echoModel });
  const { url, get } = await serveForTest({ a2a: { expose: ["echo", "second"] }, agents: { echo, second } });
  const both = [a2aClient(url, "echo"), a2aClient(url, "second")];
  for (let round = 0; round < 10; round++) {
    const contextId = `both-${round}`;
    const said = await Promise.all(both.map(({ say }) => say([{ text: "hi" }], { contextId })));
    expect(said.map(({ error }) => error?.code).sort()).toEqual([-32_602, undefined]);
    const won = said.findIndex(({ error }) => error === undefined);
    expect(said[won]?.result.task.status.state).toBe("TASK_STATE_COMPLETED");
    const { messages } = JSON.parse((await get(`/api/conversations/${contextId}/messages`)).text).data;
    expect(messages).toHaveLength(2);
    // The same as where the conversation is there before.
    const late = await both[1 - won]?.say([{ text: "hi" }], { contextId });
    expect(late?.error).toEqual(said[1 - won]?.error);
  }
});

test("a task that waits for another one is withdrawn, and the other one continues", async () => {
  const { url } = await serveForTest({ a2a });
  const { say, send, task } = a2aClient(url, "held");
  const start = async (text: string, more: object = {}) =>
    (await say([{ text }], { ...more }, { returnImmediately: true })).result.task;
  const first = await start("a2a-first");
  await gates.arrival("a2a-first");
  const second = await start("a2a-second", { contextId: first.contextId });
  expect((await send("CancelTask", { id: second.id })).error).toBeUndefined();
  expect((await send("GetTask", { id: second.id })).error?.code).toBe(-32_001);
  gates.open("a2a-first");
  await expect.poll(async () => (await task(first.id)).status.state).toBe("TASK_STATE_COMPLETED");
  expect((await task(first.id)).artifacts).toMatchObject([{ parts: [{ text: "first second third" }] }]);
});

test("`authorize` decides about each agent, and who may not answer is not asked", async () => {
  const { url } = await serveForTest({
    auth: provider(),
    a2a,
    authorize: ({ action, resource }) => {
      if (action === "a2a.connect") return true;
      if (action === "workflows.execute") return resource.workflowId === "approval";
      return action === "executions.read" ? "own" : false;
    },
  });
  const say = async (agentId: string, part: Record<string, unknown>) =>
    (await clientOf(url, agentId, "ada")).say([part], {}, { returnImmediately: true });
  expect((await say("echo", { text: "hi" })).error).toMatchObject({
    code: -32_000,
    message: "Not allowed: agents.text",
  });
  expect((await say("mirror", { data: 1 })).error?.code).toBe(-32_000);
  const { task } = (await say("approval", { data: { topic: "tea" } })).result;
  const ada = await clientOf(url, "approval", "ada");
  await expect
    .poll(async () => (await ada.task(task.id)).status)
    .toMatchObject({
      state: "TASK_STATE_WORKING",
      message: { parts: [{ text: "Waiting for approval" }] },
    });
});

test("a user without an id gets a message, no task", async () => {
  const auth = provider({ mapUser: () => ({ name: "somebody" }) });
  const { url } = await serveForTest({ auth, a2a });
  const { result } = await (await clientOf(url, "echo", "x")).say([{ text: "hi" }]);
  expect(result.message.parts).toEqual([{ text: "You said: hi" }]);
});

test("streams hold places: a client at the limit is refused before anything is started", async () => {
  const { url, get } = await serveForTest({
    a2a: { expose: ["gated"] },
    limits: { streams: 1, clientShare: 1 },
  });
  const stream = (door: string) =>
    a2aClient(url, "gated").post(
      JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage" },
        params: { message: messageOf([{ data: { door } }]) },
      }),
    );
  const first = await stream("a2a-places");
  const second = await stream("a2a-none");
  expect(await second.json()).toMatchObject({ error: { code: -32_000 } });
  const { executions } = JSON.parse((await get("/api/executions")).text).data;
  expect(executions).toHaveLength(1);
  gates.open("a2a-places");
  expect(await first.text()).toContain("TASK_STATE_COMPLETED");
});
