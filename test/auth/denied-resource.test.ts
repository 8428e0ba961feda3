// An `authorize` that denies one workflow, agent, conversation or user: no route and no socket reaches it in another way.
import { createWorkflow } from "@andante/core";
import type { AuthorizationRequest, Authorize } from "@andante/server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { inTime } from "../../packages/core/test/support/in-time.ts";
import type { Route } from "../../packages/server/src/route.ts";
import { routes } from "../../packages/server/src/routes/index.ts";
import { agents } from "../support/agents.ts";
import { dataOf, errorOf, listOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";
import { storeForTest } from "../support/store-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

/** Is in every text of the denied workflow and agent, and in nothing else. */
const marker = "of-the-closed";
const eve = bearer(await tokenFor("eve"));
const root = bearer(await tokenFor("root"));

const waiting = (id: string, name = id) =>
  createWorkflow({ id, name, input: z.object({ text: z.string() }) })
    .andThen({
      id: "speak",
      execute: ({ data, logger }) => {
        logger.info({ text: data.text }, data.text);
        return data;
      },
    })
    .andThen({
      id: "wait",
      execute: ({ data, resumeData, suspend }) => resumeData ?? suspend(data.text, data),
    });
const workflows = { closed: waiting("closed"), open: waiting("open") };
const marked = { ...workflows, closed: waiting("closed", marker) };

interface Denial {
  readonly registered?: typeof workflows;
  readonly denies: (resource: AuthorizationRequest["resource"], action: string) => boolean;
  /** Runs the denied workflow and agent, with the marker in their data. */
  readonly run: (server: TestServer, round: string) => Promise<unknown>;
  /** The values of the path's parameters that name it; `agentId` is the `id` of paths of agents, where that differs. */
  readonly params: Readonly<Record<string, string>>;
  /** Routes on which the marker is seen where nothing is denied. */
  readonly shows: readonly string[];
}

const runClosed: Denial["run"] = (server, round) =>
  server.andante.execute("closed", { text: marker }, { executionId: `closed${round}`, userId: "eve" });
const speak = (agentId: string, conversationId: string) => (server: TestServer, round: string) =>
  server.andante.agents.text(agentId, `${marker} ${round}`, { conversationId, userId: "eve" });
/** An execution of a workflow and a reply of an agent, both in the same conversation of this user. */
const talkOf = (userId: string) => async (server: TestServer, round: string) => {
  const options = { conversationId: "closed-talk", userId };
  const executionId = `closed${round}`;
  await server.andante.execute("closed", { text: marker }, { ...options, executionId });
  await server.andante.agents.text("echo", `${marker} ${round}`, options);
};
const ofTalk = {
  params: { id: "closed", agentId: "echo", conversationId: "closed-talk", executionId: "closed" },
  shows: [
    "getExecutionState",
    "listExecutionEvents",
    "findExecution",
    "findExecutionEvents",
    "getInbox",
    "listLogs",
    "listConversations",
    "listMessages",
    "exportConversation",
  ],
};

const ofWorkflow = {
  registered: marked,
  run: runClosed,
  params: { id: "closed", executionId: "closed", conversationId: "none" },
  shows: [
    "listExecutionEvents",
    "findExecutionEvents",
    "getInbox",
    "findExecution",
    "listLogs",
    "listWorkflows",
  ],
};
const denials: Readonly<Record<string, Denial>> = {
  "a workflow": { ...ofWorkflow, denies: ({ workflowId }) => workflowId === "closed" },
  "a workflow by the id of the path": {
    ...ofWorkflow,
    denies: ({ id, workflowId }, action) =>
      /^(workflows|executions)\./.test(action) ? id === "closed" : workflowId === "closed",
  },
  "an agent": {
    run: speak("short", "talk-with-short"),
    params: { id: "short", conversationId: "talk-with-short", executionId: "none" },
    shows: ["listConversations", "listMessages", "exportConversation"],
    denies: ({ agentId }) => agentId === "short",
  },
  "an agent, by way of another in its conversation": {
    run: speak("short", "talk-with-short"),
    params: { id: "echo", conversationId: "talk-with-short", executionId: "none" },
    shows: ["chatWithAgent", "listMessages"],
    denies: ({ agentId }) => agentId === "short",
  },
  "a conversation": {
    ...ofTalk,
    run: talkOf("eve"),
    denies: ({ conversationId }) => conversationId === "closed-talk",
  },
  "another user": { ...ofTalk, run: talkOf("ada"), denies: ({ userId }) => userId === "ada" },
};

const bodies: Readonly<Record<string, (params: Denial["params"]) => object>> = {
  ...Object.fromEntries(
    ["executeWorkflow", "streamWorkflow"].map((name) => [
      name,
      ({ conversationId, executionId }: Denial["params"]) => ({
        input: { text: marker },
        options: { conversationId, executionId },
      }),
    ]),
  ),
  replayExecution: () => ({ stepId: "wait" }),
  renameConversation: () => ({ title: "changed" }),
  ...Object.fromEntries(
    ["generateText", "streamText", "chatWithAgent"].map((name) => [
      name,
      ({ conversationId }: Denial["params"]) => ({ input: "hello", options: { conversationId } }),
    ]),
  ),
  ...Object.fromEntries(
    ["generateObject", "streamObject"].map((name) => [
      name,
      ({ conversationId }: Denial["params"]) => ({
        input: "hello",
        schema: { type: "object" },
        options: { conversationId },
      }),
    ]),
  ),
};

/** Follows without an end: it has a test of its own below. */
const walked = routes.filter(({ operationId }) => operationId !== "followChanges");

async function call(
  server: TestServer,
  row: Route,
  params: Denial["params"],
  headers: Record<string, string>,
) {
  const named = row.path.startsWith("/agents") ? { ...params, id: params.agentId ?? params.id } : params;
  const path = row.path.replaceAll(/:(\w+)/g, (_, name: keyof typeof named) => named[name] ?? "none");
  const query = row.operationId === "listLogs" || row.operationId.endsWith("s") ? "?limit=100" : "";
  const body = row.body === undefined ? undefined : (bodies[row.operationId]?.(params) ?? {});
  return server.send(row.method, `${path}${row.query === undefined ? "" : query}`, body, headers);
}

/** The data that exists of them, as the host sees it. */
async function stateOf({ andante }: TestServer) {
  const { executions } = await andante.list({ workflowId: "closed" });
  const { conversations } = await andante.conversations.list({});
  const messages = await Promise.all(
    conversations.map(({ conversationId }) => andante.conversations.messages(conversationId)),
  );
  return JSON.stringify([executions, conversations, messages]);
}

describe.each(Object.entries(denials))("%s", (_, denial) => {
  const { denies, run, params, shows, registered = workflows } = denial;
  async function serve(): Promise<{ server: TestServer; asked: Map<string, Set<string>> }> {
    const asked = new Map<string, Set<string>>();
    const authorize: Authorize = ({ userId, action, resource }) => {
      asked.set(action, new Set([...(asked.get(action) ?? []), ...Object.keys(resource)]));
      return userId === "root" || !denies(resource, action);
    };
    const server = await serveForTest({ workflows: registered, agents, auth: provider(), authorize });
    return { server, asked };
  }

  test("no route of the table shows it or changes it", async () => {
    const { server } = await serve();
    await run(server, "");
    const { traces } = await server.andante.traces.list();
    const seenByRoot: string[] = [];
    const before = await stateOf(server);
    for (const { traceId } of traces)
      for (const row of walked) {
        const answer = await call(server, row, { ...params, traceId }, eve);
        expect(answer.text, `${row.method} ${row.path}`).not.toContain(marker);
        if (row.method !== "GET") expect(await stateOf(server), `${row.method} ${row.path}`).toBe(before);
      }
    expect(await stateOf(server)).toBe(before);
    for (const row of walked.filter(
      ({ method, operationId }) => method === "GET" || shows.includes(operationId),
    )) {
      if (row.response.kind === "events" && row.method === "GET") continue;
      if ((await call(server, row, params, root)).text.includes(marker)) seenByRoot.push(row.operationId);
    }
    expect(seenByRoot).toEqual(expect.arrayContaining(shows.filter((each) => each !== "chatWithAgent")));
  });

  test("no feed shows it: changes and sockets show the others alone", async () => {
    const { server } = await serve();
    const changes = await server.stream("/api/changes", undefined, eve);
    const logs = await SocketClient.connect(server, "/ws/logs", eve);
    const spans = await SocketClient.connect(server, "/ws/observability", eve);
    await run(server, "");
    await server.andante.execute("open", { text: "of-the-open" }, { executionId: "open", userId: "bob" });
    const has = (text: string) => (message: unknown) => JSON.stringify(message).includes(text);
    const seen = [
      await logs.until(has("of-the-open")),
      await spans.until(has('"span-end"')),
      await inTime(readUntil(changes, has('"open"')), "the change"),
    ];
    for (const messages of seen) {
      expect(JSON.stringify(messages)).not.toContain(marker);
      for (const id of [params.conversationId, "closed"])
        expect(JSON.stringify(messages)).not.toContain(`"${id}"`);
    }
  });

  test("the host receives the ids that the table lists, and no other", async () => {
    const { server, asked } = await serve();
    await run(server, "");
    const { traces } = await server.andante.traces.list();
    const named = { ...params, traceId: traces[0]?.traceId ?? "none" };
    for (const row of walked) {
      if (row.method === "DELETE") continue;
      asked.clear();
      await call(server, row, named, eve);
      const listed: readonly string[] = [...row.resource, "id"];
      for (const [action, names] of asked)
        for (const name of names) expect(listed, `${row.path} asks ${action} about ${name}`).toContain(name);
    }
  });
});

describe("a start with the id of an execution in a denied conversation", () => {
  const input = { text: marker };
  const commands: readonly [name: string, path: string, body: object][] = [
    ["execute", "/workflows/closed/execute", { input, options: { executionId: "closed" } }],
    ["stream", "/workflows/closed/stream", { input, options: { executionId: "closed" } }],
    [
      "replay",
      "/workflows/closed/executions/source/replay",
      { stepId: "wait", options: { executionId: "copy" } },
    ],
  ];
  test.each(commands)("%s does not return it", async (_, path, body) => {
    const denied = new Set<string>();
    const authorize: Authorize = ({ resource: { conversationId = "" } }) => !denied.has(conversationId);
    const server = await serveForTest({ workflows, auth: provider(), authorize });
    const start = { userId: "eve", conversationId: "closed-talk" };
    await server.andante.execute("closed", input, { ...start, executionId: "closed" });
    await server.andante.execute("closed", input, { ...start, executionId: "source" });
    await server.post("/workflows/closed/executions/source/replay", commands[2]?.[2], eve);
    expect((await server.post(path, body, eve)).text).toContain(marker);
    denied.add("closed-talk");
    expect(errorOf(await server.post(path, body, eve), 403)).toMatch(/^Not allowed: /);
  });
});

test("a host that allows only the owner's executions of a workflow, and is asked without it first, shows no others", async () => {
  const authorize: Authorize = ({ resource: { workflowId } }) => (workflowId === undefined ? true : "own");
  const server = await serveForTest({ workflows, auth: provider(), authorize });
  const start = (executionId: string, userId: string) =>
    server.andante.execute("closed", { text: marker }, { executionId, userId });
  await start("of-ada", "ada");
  await start("of-eve", "eve");
  const requests = (executionId: string): readonly [method: string, path: string, body?: object][] => [
    ["GET", `/api/executions/${executionId}`],
    ["GET", `/api/executions/${executionId}/events`],
    ["POST", `/workflows/closed/executions/${executionId}/replay`, { stepId: "wait" }],
    ["POST", `/workflows/closed/executions/${executionId}/cancel`, {}],
  ];
  const before = await stateOf(server);
  for (const [method, path, body] of requests("of-ada")) {
    const { status, text } = await server.send(method, path, body, eve);
    expect([403, 404], path).toContain(status);
    expect(text).not.toContain(marker);
    expect(await stateOf(server), path).toBe(before);
  }
  for (const [method, path, body] of requests("of-eve"))
    expect((await server.send(method, path, body, eve)).status, path).toBe(200);
});

const searched = storeForTest().search === undefined ? undefined : test;
searched?.("a search finds no execution of a denied workflow, conversation or user", async () => {
  const authorize: Authorize = ({ userId, resource }) =>
    userId === "root" ||
    (resource.workflowId !== "closed" && resource.conversationId !== "talk" && resource.userId !== "ada");
  const server = await serveForTest({ workflows, auth: provider(), authorize });
  const start = (
    workflowId: string,
    executionId: string,
    options: { conversationId?: string } = {},
    userId = "eve",
  ) => server.andante.execute(workflowId, { text: marker }, { executionId, userId, ...options });
  await start("closed", "of-workflow");
  await start("open", "of-talk", { conversationId: "talk" });
  await start("open", "of-user", {}, "ada");
  await start("open", "seen");
  const found = async (headers: Record<string, string>) => {
    const page = dataOf(await server.get(`/api/search?text=${marker}`, headers));
    return listOf(page, "executions").map(({ executionId }) => executionId);
  };
  // The index is made in the background.
  await expect.poll(() => found(root), { timeout: 20_000 }).toHaveLength(4);
  expect(await found(eve)).toEqual(["seen"]);
  for (const filter of ["workflowId=closed", "userId=ada"])
    expect(errorOf(await server.get(`/api/search?text=${marker}&${filter}`, eve), 403)).toMatch(
      /^Not allowed/,
    );
});

test("a fork into a denied conversation is refused", async () => {
  const authorize: Authorize = ({ resource }) => resource.conversationId !== "closed-talk";
  const server = await serveForTest({ agents, auth: provider(), authorize });
  await server.andante.agents.text("echo", "hello", { conversationId: "talk", userId: "eve" });
  const fork = (conversationId: string) =>
    server.post("/api/conversations/talk/fork", { conversationId }, eve);
  expect(errorOf(await fork("closed-talk"), 403)).toBe("Not allowed: conversations.fork");
  expect((await fork("open-talk")).status).toBe(200);
});

describe("the host is asked about the filters of the query, and not about names that filter nothing", async () => {
  const asked = new Set<string>();
  const authorize: Authorize = ({ resource }) => {
    for (const [name, value] of Object.entries(resource)) if (value === "smuggled") asked.add(name);
    return false;
  };
  const server = await serveForTest({ workflows, auth: provider(), authorize });
  const filtered = routes.filter(({ query }) => query !== undefined);
  test.each(filtered.map((row) => [row.path, row] as const))("%s", async (_, row) => {
    asked.clear();
    const query = new URLSearchParams(Object.fromEntries(row.resource.map((name) => [name, "smuggled"])));
    const path = row.path.replace(":id", "open").replaceAll(/:\w+/g, "none");
    expect((await server.get(`${path}?${query}`, eve)).status).toBe(403);
    const filters = row.resource.filter((name) => Object.hasOwn(row.query?.().shape ?? {}, name));
    const isKnown = (name: string) => filters.some((filter) => filter === name) || name === "id";
    expect([...asked].filter((name) => !isKnown(name))).toEqual([]);
    expect([...asked]).toEqual(expect.arrayContaining(filters));
  });
});

describe("an unknown workflow or agent is 404 before a denied one is 403", async () => {
  const server = await serveForTest({ workflows, agents, auth: provider(), authorize: () => false });
  const named = routes.filter(({ path }) => /^(\/api)?\/(workflows|agents)\/:id/.test(path));
  test.each(named.map((row) => [row.method, row.path, row] as const))("%s %s", async (_, path, row) => {
    const known = /^(\/api)?\/agents/.test(path) ? "echo" : "open";
    for (const [id, status] of [
      ["unknown", 404],
      [known, 403],
    ] as const)
      expect((await call(server, row, { id }, eve)).status, id).toBe(status);
  });
});

async function readUntil(reader: { next(): Promise<unknown> }, likes: (event: unknown) => boolean) {
  const read: unknown[] = [];
  for (;;) {
    const event = await reader.next();
    read.push(event);
    if (likes(event)) return read;
  }
}

describe("an action that shows or does the same as another needs both", async () => {
  let closed = "";
  const server = await serveForTest({
    workflows,
    auth: provider(),
    authorize: ({ action }) => action !== closed,
  });
  await server.andante.execute("open", { text: "x" }, { executionId: "one", userId: "eve" });
  await server.andante.agents.text("echo", "hello", { conversationId: "talk", userId: "eve" });
  const pairs: readonly [denied: string, closes: string, method: string, path: string][] = [
    ["workflows.execute", "workflows.stream", "POST", "/workflows/open/stream"],
    ["agents.text", "agents.stream", "POST", "/agents/echo/stream"],
    ["agents.object", "agents.streamObject", "POST", "/agents/echo/stream-object"],
    ["executions.read", "executions.events", "GET", "/workflows/open/executions/one/events"],
    ["executions.read", "executions.events", "GET", "/api/executions/one/events"],
    ["executions.events", "executions.attach", "GET", "/workflows/open/executions/one/stream"],
    ["executions.read", "executions.list", "GET", "/api/inbox"],
    ["executions.list", "executions.follow", "GET", "/api/changes"],
    ["conversations.messages", "conversations.export", "GET", "/api/conversations/talk/export"],
    ["conversations.read", "conversations.export", "GET", "/api/conversations/talk/export"],
    ["conversations.messages", "conversations.fork", "POST", "/api/conversations/talk/fork"],
  ];
  test.each(pairs)("without %s there is no %s: %s %s", async (denied, _, method, path) => {
    closed = denied;
    const body = method === "POST" ? { input: { text: "x" }, schema: {} } : undefined;
    expect(errorOf(await server.send(method, path, body, eve), 403)).toBe(`Not allowed: ${denied}`);
  });

  test.each([
    ["logs.read", "/ws/logs"],
    ["logs.read", "/ws/observability"],
    ["traces.list", "/ws/observability"],
    ["traces.read", "/ws/observability"],
  ])("without %s there is no %s", async (denied, path) => {
    closed = denied;
    expect(await refusal(server, path, eve)).toMatchObject({
      status: 403,
      body: { error: `Not allowed: ${denied}` },
    });
    const other = denied === "logs.read" ? "/ws" : "/ws/logs";
    await SocketClient.connect(server, other, eve);
  });

  test("the other way round the first stays open", async () => {
    const denied = new Set(["workflows.stream", "executions.events", "executions.follow", "logs.follow"]);
    const server = await serveForTest({
      workflows,
      auth: provider(),
      authorize: ({ action }) => !denied.has(action),
    });
    const options = { executionId: "one" };
    const started = await server.post("/workflows/open/execute", { input: { text: "x" }, options }, eve);
    expect(started.status).toBe(200);
    for (const path of ["/api/executions/one", "/api/executions", "/api/logs", "/api/inbox"])
      expect((await server.get(path, eve)).status, path).toBe(200);
  });
});
