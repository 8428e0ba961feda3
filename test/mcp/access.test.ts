// Who may use MCP: the same authentication, owners and policy as over HTTP.
import { RecordingLogger } from "@andante/core/test";
import { expect, test } from "vitest";
import { careful, deleted } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { waiting } from "../support/waiting-agent.ts";
import { mcpClient, textOf } from "./client.ts";

const mcp = { expose: ["sum", "approval", "mirror", "echo"], operator: true, wait: 0 };
const clientOf = async (url: string, user: string) =>
  mcpClient(url, { headers: bearer(await tokenFor(user)) });

test("with authentication a message needs a token, and the 401 names where clients get one", async () => {
  const auth = { ...provider(), issuer: "https://login.example" };
  const { url, get } = await serveForTest({ auth, mcp });
  const refused = await mcpClient(url).send("tools/list");
  expect(refused.status).toBe(401);
  const metadata = `${url}/.well-known/oauth-protected-resource`;
  expect(refused.headers.get("www-authenticate")).toBe(`Bearer resource_metadata="${metadata}"`);
  for (const place of ["", "/mcp"]) {
    const { status, text } = await get(`/.well-known/oauth-protected-resource${place}`);
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      { resource: `${url}/mcp`, authorization_servers: ["https://login.example"] },
    ]);
  }
  expect((await (await clientOf(url, "ada")).send("tools/list")).status).toBe(200);
});

test("without authentication there are no metadata, and without the option no route", async () => {
  const open = await serveForTest({ mcp });
  expect((await open.get("/.well-known/oauth-protected-resource")).status).toBe(404);
  const without = await serveForTest();
  expect((await without.post("/mcp", {})).status).toBe(404);
});

test("the public address of the host is the one that clients see", async () => {
  const { get } = await serveForTest({ auth: provider(), mcp: { ...mcp, url: "https://ai.example/x/" } });
  const { text } = await get("/.well-known/oauth-protected-resource");
  expect(JSON.parse(text).resource).toBe("https://ai.example/x/mcp");
});

test("the issuer of the tokens is the one that jwtAuth requires", () => {
  expect(provider({ verifyOptions: { issuer: "https://login.example" } }).issuer).toBe(
    "https://login.example",
  );
  expect(provider({ verifyOptions: { issuer: "me" } }).issuer).toBeUndefined();
});

test.each([
  [[], true],
  [["GET /.well-known/oauth-protected-resource*"], false],
])(
  "where every route is private, a start with the public routes %j warns: %s",
  async (publicRoutes, warns) => {
    const logger = new RecordingLogger();
    await serveForTest({ auth: provider({ defaultPrivate: true, publicRoutes }), mcp, logger });
    const warned = logger.lines.filter(({ msg }) => String(msg).includes("issuer of tokens: list"));
    const entry = "GET /.well-known/oauth-protected-resource*";
    expect(warned.map(({ msg }) => String(msg).includes(`list "${entry}" in publicRoutes`))).toEqual(
      warns ? [true] : [],
    );
  },
);

test("an execution belongs to the user of the token, and no other user sees its task", async () => {
  const { url } = await serveForTest({ auth: provider(), mcp });
  const [ada, bob] = [await clientOf(url, "ada"), await clientOf(url, "bob")];
  const { taskId } = (await ada.call("approval", { topic: "tea" })).result;
  await expect.poll(async () => (await ada.task(taskId)).result.status).toBe("input_required");
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const reply = await bob.send(method, { taskId, inputResponses: {} });
    expect([reply.status, reply.error?.code]).toEqual([200, -32602]);
  }
  expect((await ada.task(taskId)).result.status).toBe("input_required");
  const seen = await ada.call("mirror", { input: 1 });
  expect(seen.result.resultType).toBe("task");
  await expect
    .poll(async () => (await ada.task(seen.result.taskId)).result.result)
    .toMatchObject({ structuredContent: { userId: "ada", context: { user: { id: "ada" } } } });
});

test("a reply belongs to its user and to the agent that its conversation began with", async () => {
  const { url, post } = await serveForTest({ auth: provider(), mcp: { expose: ["echo", "held"], wait: 0 } });
  const [ada, bob] = [await clientOf(url, "ada"), await clientOf(url, "bob")];
  const taskId = String((await ada.call("held", { input: "mcp-owner" })).result.taskId);
  gates.open("mcp-owner");
  await expect.poll(async () => (await ada.task(taskId)).result.status).toBe("completed");
  const headers = bearer(await tokenFor("ada"));
  const hidden = {
    input: [{ id: "u1", role: "user", parts: [{ type: "text", text: "hi" }] }],
    options: { conversationId: "hidden" },
  };
  expect((await post("/agents/careful/text", hidden, headers)).status).toBe(200);
  const of = (agentId: string) => `reply/${agentId}/hidden/u1/2026-01-01T00:00:00.000Z`;
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"])
    for (const [client, id] of [
      [bob, taskId],
      [ada, taskId.replace("/held/", "/echo/")],
      // A conversation of an agent that is not exposed.
      [ada, of("careful")],
      [ada, of("echo")],
      [ada, `${taskId.split("/", 3).join("/")}/other/2026-01-01T00:00:00.000Z`],
    ] as const) {
      const { error } = await client.send(method, { taskId: id, inputResponses: {} });
      expect([method, id, error]).toMatchObject([
        method,
        id,
        { code: -32602, message: `Task ${id} not found` },
      ]);
    }
  expect((await ada.task(taskId)).result.result).toMatchObject({
    structuredContent: { text: "first second third" },
  });
});

test("in a conversation of another agent a call gets the reply as it is, and no task", async () => {
  const { url, post } = await serveForTest({ mcp: { expose: ["careful"], wait: 0 } });
  const conversationId = "handed-over";
  await post("/agents/echo/text", { input: "hi", options: { conversationId } });
  // It waits for a person.
  const { result } = await mcpClient(url).call("careful", { input: "delete a.txt", conversationId });
  expect(result.structuredContent).toEqual({ text: "Let me see. ", conversationId });
});

test("`authorize` decides about each tool, its list and its tasks", async () => {
  const asked: string[] = [];
  const { url } = await serveForTest({
    auth: provider(),
    mcp,
    authorize: ({ action, resource, userId }) => {
      asked.push(action);
      if (userId === "root") return true;
      if (action === "mcp.connect") return true;
      if (action === "workflows.execute")
        return resource.workflowId === "sum" || resource.workflowId === "approval";
      return action === "executions.read" ? "own" : false;
    },
  });
  const ada = await clientOf(url, "ada");
  const { tools } = (await ada.send("tools/list")).result;
  expect(tools).toMatchObject([{ name: "sum" }, { name: "approval" }]);
  const refused = await ada.call("mirror", { input: 1 });
  expect([refused.result.isError, textOf(refused.result)]).toEqual([true, "Not allowed: workflows.execute"]);
  expect(textOf((await ada.call("echo", { input: "x" })).result)).toBe("Not allowed: agents.text");
  expect(textOf((await ada.call("inbox_list")).result)).toBe("Not allowed: mcp.inbox_list");
  // She may not resume, so she is not asked.
  const { taskId } = (await ada.call("approval", { topic: "tea" })).result;
  await expect
    .poll(async () => (await ada.task(taskId)).result.statusMessage)
    .toContain("Waiting for approval");
  expect((await ada.task(taskId)).result.status).toBe("working");
  const root = await clientOf(url, "root");
  const names = JSON.stringify((await root.send("tools/list")).result.tools);
  expect(names).toContain("inbox_decide");
  expect(asked).toContain("mcp.inbox_decide");
});

test("a user without an id gets no tasks: nothing that is read later could be its own", async () => {
  const auth = provider({ mapUser: () => ({ name: "somebody" }) });
  const { url } = await serveForTest({ auth, mcp });
  const { result } = await (await clientOf(url, "x")).call("sum", { a: 1 });
  expect(result.structuredContent).toEqual({ total: 2 });
});

test("a call with progress holds a place among the streams, in a batch too", async () => {
  const { url } = await serveForTest({ mcp, limits: { streams: 1 } });
  const { call } = mcpClient(url);
  const post = (id: number) => {
    const params = { name: "approval", arguments: { topic: "tea" }, _meta: { progressToken: id } };
    const message = { jsonrpc: "2.0", id, method: "tools/call", params };
    return fetch(`${url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify([message, { ...message, id: id + 1 }]),
    });
  };
  expect((await call("sum", { a: 1, b: 1 })).result.isError).toBeUndefined();
  const responses = await Promise.all([1, 3, 5].map(post));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 503, 503]);
  await Promise.all(responses.map(({ body }) => body?.cancel()));
});

test("operators read the inbox, decide, and look at executions", async () => {
  const { url } = await serveForTest({ mcp });
  const { call } = mcpClient(url);
  const { taskId } = (await call("approval", { topic: "tea" })).result;
  const inbox = async () => Object((await call("inbox_list")).result.structuredContent);
  await expect.poll(async () => (await inbox()).items.length).toBe(1);
  const [{ suspension }] = (await inbox()).items;
  const explained = (await call("execution_explain", { executionId: taskId })).result;
  expect(textOf(explained)).toContain("Waiting for approval");
  const decide = (given: object) => call("inbox_decide", { executionId: taskId, ...given });
  expect((await decide({ resumeData: { approved: 1 } })).result.isError).toBe(true);
  expect((await decide({ colour: "red" })).result.isError).toBe(true);
  const { suspensionId } = suspension;
  expect((await decide({ suspensionId, resumeData: { approved: true } })).result.isError).toBeUndefined();
  const list = async () =>
    Object((await call("execution_list", { workflowId: "approval", limit: 1 })).result.structuredContent);
  await expect.poll(async () => (await list()).executions).toMatchObject([{ status: "completed" }]);
  expect((await call("execution_explain", { executionId: "none" })).result.isError).toBe(true);
});

test("operators decide approvals and answer tools that wait in chats", async () => {
  const { url, andante, get } = await serveForTest({
    agents: { careful, waiting },
    mcp: { expose: [], operator: true },
  });
  const { call } = mcpClient(url);
  const started = async (agentId: string, input: string) => {
    const { conversationId } = await andante.agents.start(agentId, input);
    const found = async () =>
      Object((await call("inbox_list")).result.structuredContent).items.filter(
        (item: { conversationId: string }) => item.conversationId === conversationId,
      );
    await expect.poll(found).toHaveLength(1);
    const messages = async () => (await get(`/api/conversations/${conversationId}/messages`)).text;
    return { conversationId, item: (await found())[0], found, messages };
  };
  const decided = async (given: Record<string, unknown>) => (await call("inbox_decide", given)).result;

  for (const [approved, reply] of [
    [true, "allowed.txt is gone"],
    [false, "not today"],
  ] as const) {
    const file = approved ? "allowed.txt" : "denied.txt";
    const { conversationId, item, found, messages } = await started("careful", `delete ${file}`);
    const { approvalId } = item;
    expect((await decided({ conversationId, approvalId: "other", approved })).isError).toBe(true);
    expect((await decided({ conversationId, approvalId, approved: "yes" })).isError).toBe(true);
    expect(await found()).toHaveLength(1);
    const result = await decided({ conversationId, approvalId, approved, reason: "not today" });
    expect(result.isError).toBeUndefined();
    await expect.poll(messages).toContain(reply);
    await expect.poll(found).toEqual([]);
    expect(deleted.includes(file)).toBe(approved);
    expect((await decided({ conversationId, approvalId, approved: !approved })).isError).toBe(true);
  }

  const { conversationId, item, found, messages } = await started("waiting", "tea");
  const { suspensionId } = item.suspension;
  expect((await decided({ conversationId, suspensionId, resumeData: { paid: 1 } })).isError).toBe(true);
  expect(await found()).toHaveLength(1);
  const result = await decided({ conversationId, suspensionId, resumeData: { paid: true } });
  expect(result.isError).toBeUndefined();
  await expect.poll(messages).toContain("ordered");
  await expect.poll(found).toEqual([]);
});

test("operators list, pause, trigger and resume schedules", async () => {
  const { url, send } = await serveForTest({ mcp });
  dataOf(await send("PUT", "/api/schedules/nightly", { workflowId: "sum", cron: "@daily", input: { a: 1 } }));
  const { call } = mcpClient(url);
  expect(Object((await call("schedule_list")).result.structuredContent).schedules).toHaveLength(1);
  const of = async (name: string, given: object = {}) =>
    Object((await call(name, { scheduleId: "nightly", ...given })).result.structuredContent);
  expect((await of("schedule_pause", { reason: "moving" })).state).toBe("paused");
  expect((await of("schedule_resume")).state).toBe("active");
  expect((await of("schedule_trigger")).executionId).toEqual(expect.any(String));
  expect((await call("schedule_pause", {})).result.isError).toBe(true);
});

test("journals and conversations are resources of those who may see them", async () => {
  const { url } = await serveForTest({ auth: provider(), mcp: { ...mcp, wait: 5000 } });
  const [ada, bob] = [await clientOf(url, "ada"), await clientOf(url, "bob")];
  await ada.call("sum", { a: 1 });
  await ada.call("echo", { input: "hello" });
  const first = (await ada.send("resources/list")).result;
  const second = (await ada.send("resources/list", { cursor: first.nextCursor })).result;
  const uriOf = ({ resources }: typeof first) => JSON.parse(JSON.stringify(resources))[0].uri;
  const [journal, chat] = [uriOf(first), uriOf(second)];
  expect([journal, chat]).toMatchObject([
    expect.stringMatching(/^andante:\/\/executions\//),
    expect.stringMatching(/^andante:\/\/conversations\//),
  ]);
  const read = async (uri: string) => JSON.stringify((await ada.send("resources/read", { uri })).result);
  expect(await read(journal)).toContain("workflow-complete");
  expect(await read(chat)).toContain("hello");
  for (const uri of [journal, chat])
    expect((await bob.send("resources/read", { uri })).error?.code).toBe(-32602);
  expect((await bob.send("resources/list")).result.resources).toEqual([]);
  const { resourceTemplates } = (await ada.send("resources/templates/list")).result;
  expect(resourceTemplates).toHaveLength(2);
});
