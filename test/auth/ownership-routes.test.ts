// Routes that show data of users: every caller × every such route × every setting of the host.
import { describe, expect, test, vi } from "vitest";
import { gates } from "../support/gates.ts";
import {
  converse,
  headersOf,
  hosts,
  type Owner,
  owners,
  ownersIn,
  type Sight,
  serveOwnedData,
  sightOf,
  speak,
  tokens,
} from "../support/ownership-fixture.ts";
import { dataOf, errorOf, listOf } from "../support/responses.ts";

const lists = [
  "/api/executions",
  "/workflows/talk/executions",
  "/api/conversations",
  "/api/traces",
  "/api/search?text=of-",
];

/** One thing of an owner: how it is asked for, and the status for a caller that may not see it. */
const singles: readonly [
  route: string,
  address: (owner: Owner, traceId: string) => string,
  hidden: number,
][] = [
  ["GET …/events", (owner) => `${execution(owner)}/events`, 403],
  ["GET …/stream", (owner) => `${execution(owner)}/stream`, 403],
  ["GET /api/executions/:id", (owner) => `/api/executions/execution-of-${owner}`, 404],
  ["GET /api/executions/:id/events", (owner) => `/api/executions/execution-of-${owner}/events`, 404],
  ["GET /api/conversations/:id", (owner) => `/api/conversations/conversation-of-${owner}`, 404],
  ["GET …/messages", (owner) => `/api/conversations/conversation-of-${owner}/messages`, 404],
  ["GET /api/traces/:id", (_, traceId) => `/api/traces/${traceId}`, 404],
  ["POST …/replay", (owner) => `${execution(owner)}/replay`, 403],
];

function execution(owner: Owner): string {
  return `/workflows/talk/executions/execution-of-${owner}`;
}

const inside = (sight: Sight): readonly string[] => (typeof sight === "string" ? [] : sight);

describe.each(Object.keys(hosts))("the host decides: %s", async (host) => {
  const server = await serveOwnedData(host);
  await speak(server);
  await converse(server);
  const traceOf = async (owner: Owner) => {
    const { traces } = await server.andante.traces.list({ executionId: `execution-of-${owner}` });
    return traces[0]?.traceId ?? "";
  };
  const traceIds = {
    alice: await traceOf("alice"),
    bob: await traceOf("bob"),
    nobody: await traceOf("nobody"),
  };
  // Values are indexed in the background.
  await vi.waitFor(
    async () => expect((await server.andante.search({ text: "of-" })).executions).toHaveLength(owners.length),
    { timeout: 20_000 },
  );

  describe.each(Object.keys(tokens))("to %s", (caller) => {
    const sight = sightOf(host, caller);
    const headers = headersOf(caller);

    test.each(lists)("GET %s", async (path) => {
      const response = await server.get(path, headers);
      if (caller === "none") return void errorOf(response, 401);
      if (sight === "refused") return void errorOf(response, 403);
      const expected = inside(sight).filter((owner) => owner !== "server");
      expect(response.status).toBe(200);
      expect(ownersIn(response.text)).toEqual(expected);
    });

    test("GET /api/logs", async () => {
      const response = await server.get("/api/logs?limit=1000", headers);
      if (sight === "refused") return void errorOf(response, 403);
      expect(response.status).toBe(200);
      expect(ownersIn(response.text)).toEqual(inside(sight));
      expect(response.text.includes("the step speaks")).toBe(sight === "outline" || sight.length > 0);
    });

    test.each(owners)("GET /api/logs of one execution of %s", async (owner) => {
      const response = await server.get(`/api/logs?executionId=execution-of-${owner}`, headers);
      if (sight === "refused") return void errorOf(response, 403);
      expect(ownersIn(response.text)).toEqual(inside(sight).includes(owner) ? [owner] : []);
    });

    test.each(
      singles.flatMap(([route, ...single]) => owners.map((owner) => [route, owner, ...single] as const)),
    )("%s of %s", async (route, owner, address, hidden) => {
      const [method = ""] = route.split(" ");
      const body = method === "POST" ? { stepId: "fail" } : undefined;
      const response = await server.send(method, address(owner, traceIds[owner]), body, headers);
      if (caller === "none") return void errorOf(response, 401);
      if (sight === "refused") return void errorOf(response, 403);
      if (!inside(sight).includes(owner)) {
        errorOf(response, hidden);
        return expect(ownersIn(response.text.replaceAll(/(?:conversation|execution)-of-\w+/g, ""))).toEqual(
          [],
        );
      }
      // A replay runs, and the workflow fails.
      expect(response.status).toBe(method === "POST" ? 500 : 200);
      if (method === "GET") expect(ownersIn(response.text)).toEqual([owner]);
    });
  });
});

test("a reply that runs is shown to its own user, and to those whom the host lets see all", async () => {
  for (const [host, caller, status] of [
    ["no authorize", "alice", 200],
    ["no authorize", "bob", 204],
    ["no authorize", "nameless", 204],
    ["own", "alice", 200],
    ["own", "bob", 204],
    ["operators", "operator", 200],
    ["no", "alice", 403],
  ] as const) {
    const server = await serveOwnedData(host);
    const door = `reply-${host}-${caller}`;
    const talk = { userId: "alice", conversationId: "running" };
    const reply = await server.andante.agents.chat("held", door, talk);
    await gates.arrival(door);
    const following = fetch(`${server.url}/agents/held/chat/running/stream`, { headers: headersOf(caller) });
    const response = await following;
    expect(response.status, door).toBe(status);
    gates.open(door);
    await response.text();
    for await (const _ of reply);
  }
});

test("a token that gives no id shares nothing with another, nor with those that have none", async () => {
  const server = await serveOwnedData("no authorize");
  const body = { input: { text: "of-nobody" }, options: { executionId: "nameless" } };
  errorOf(await server.post("/workflows/talk/execute", body, headersOf("nameless")), 500);
  const path = "/workflows/talk/executions/nameless";
  for (const part of ["events", "stream"]) {
    expect(errorOf(await server.get(`${path}/${part}`, headersOf("nameless")), 403)).toMatch(/^Not allowed/);
  }
  const listed = dataOf(await server.get("/api/executions", headersOf("nameless")));
  expect(listOf(listed, "executions")).toEqual([]);
});

test("an execution of another user is 403 after the checks of the request, and an unknown one 404", async () => {
  const server = await serveOwnedData("no authorize");
  await speak(server);
  const bob = headersOf("bob");
  errorOf(await server.post(`${execution("alice")}/replay`, { stepId: 5 }, bob), 400);
  expect(errorOf(await server.post(`${execution("alice")}/replay`, { stepId: "fail" }, bob), 403)).toBe(
    "Not allowed: executions.replay",
  );
  errorOf(await server.get("/workflows/talk/executions/none/events", bob), 404);
});

test("the context of an execution does not give it an owner", async () => {
  const server = await serveOwnedData("no authorize");
  const options = { executionId: "hosted", context: { userId: "bob" } };
  await server.andante.execute("talk", { text: "x" }, options);
  errorOf(await server.get("/workflows/talk/executions/hosted/events", headersOf("bob")), 403);
});

test("steering and the state follow the contract: the approver is seldom the starter", async () => {
  const server = await serveOwnedData("no authorize");
  await speak(server);
  for (const caller of ["none", "bob", "nameless"]) {
    const state = await server.get(`${execution("alice")}/state`, headersOf(caller));
    expect(dataOf(state)).toMatchObject({
      input: { text: "of-alice" },
      context: { note: "of-alice", userId: "alice" },
    });
    // It has ended: allowed, and too late.
    errorOf(await server.post(`${execution("alice")}/suspend`, {}, headersOf(caller)), 400);
    errorOf(await server.post(`${execution("alice")}/resume`, {}, headersOf(caller)), 404);
  }
  errorOf(await server.post(`${execution("alice")}/cancel`, {}, headersOf("bob")), 400);
});
