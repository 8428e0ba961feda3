// Every JSON success answer fits the schema of its row in the route table, and holds nothing that the schema leaves out.
import { once } from "node:events";
import { createServer } from "node:http";
import { Agent, defineEvent } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import type { Route } from "../../packages/server/src/route.ts";
import { routes } from "../../packages/server/src/routes/index.ts";
import { cleanup } from "../support/cleanup.ts";
import { EventReader } from "../support/event-reader.ts";
import { startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, listOf, payloadOf, type TestResponse } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { waiting } from "../support/waiting-agent.ts";

const server = await serveForTest();

const covered = new Set<string>();

function row(name: string): Route {
  const found = routes.find(({ method, path }) => `${method} ${path}` === name);
  if (found === undefined) throw new Error(`no row ${name}`);
  covered.add(name);
  return found;
}

function expectShape(name: string, answer: TestResponse, status = 200): void {
  const { response } = row(name);
  if (response.kind !== "json") throw new Error(`${name} does not answer JSON`);
  const data = payloadOf(answer, status);
  // Parsing drops fields that the schema does not have, so an undocumented field shows as a difference.
  expect(response.data().parse(data)).toEqual(data);
}

const execution = "/workflows/:id/executions/:executionId";

test("GET /workflows and GET /workflows/:id", async () => {
  expectShape("GET /workflows", await server.get("/workflows"));
  for (const id of ["sum", "approval", "both", "everything", "mirror"]) {
    expectShape("GET /workflows/:id", await server.get(`/workflows/${id}`));
  }
});

test("execute: completed, suspended, under way", async () => {
  const name = "POST /workflows/:id/execute";
  expectShape(name, await server.post("/workflows/sum/execute", { input: { a: 1 } }));
  expectShape(name, await server.post("/workflows/approval/execute", { input: { topic: "x" } }));
  expectShape(name, await server.post("/workflows/twice/execute", { input: {} }));
  const under = await server.post("/workflows/sum/execute", { input: { a: 1 } }, { prefer: "respond-async" });
  expectShape(name, under, 202);
});

test("resume: completed, suspended again, under way; state: of each", async () => {
  const { executionId } = dataOf(await server.post("/workflows/twice/execute", { input: {} }));
  const at = `/workflows/twice/executions/${executionId}`;
  expectShape(`GET ${execution}/state`, await server.get(`${at}/state`));
  expectShape(`POST ${execution}/resume`, await server.post(`${at}/resume`, { resumeData: 1 }));
  expectShape(`POST ${execution}/resume`, await server.post(`${at}/resume`, { resumeData: 2 }));
  expectShape(`GET ${execution}/state`, await server.get(`${at}/state`));
  expectShape(`GET ${execution}/events`, await server.get(`${at}/events`));
  const other = await startApproval(server, { userId: "ada", context: { a: 1 } });
  const path = `/workflows/approval/executions/${other.executionId}`;
  expectShape(`GET ${execution}/state`, await server.get(`${path}/state`));
  const body = { resumeData: { approved: true } };
  expectShape(
    `POST ${execution}/resume`,
    await server.post(`${path}/resume`, body, { prefer: "wait=0" }),
    202,
  );
});

test("suspend, and the state of a pause", async () => {
  const id = await startGated(server, "shapes");
  const at = `/workflows/gated/executions/${id}`;
  expectShape(`POST ${execution}/suspend`, await server.post(`${at}/suspend`, { reason: "r" }));
  expectShape(`GET ${execution}/state`, await server.get(`${at}/state`));
  gates.open("shapes");
});

test("replay: completed and suspended, with tags and lineage in its state", async () => {
  const name = `POST ${execution}/replay`;
  const options = { tags: ["shape"] };
  const done = dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 }, options }));
  const at = `/workflows/sum/executions/${done.executionId}`;
  const replayed = await server.post(`${at}/replay`, { stepId: "add" });
  expectShape(name, replayed);
  const state = `/workflows/sum/executions/${dataOf(replayed).executionId}/state`;
  expectShape(`GET ${execution}/state`, await server.get(state));
  expectShape("GET /api/executions", await server.get("/api/executions?tag=shape"));
  const { executionId } = await startApproval(server);
  const again = `/workflows/approval/executions/${executionId}/replay`;
  expectShape(name, await server.post(again, { stepId: "draft" }));
});

test("cancel, and the state of a cancelled and of a failed execution", async () => {
  const { executionId } = await startApproval(server);
  const at = `/workflows/approval/executions/${executionId}`;
  expectShape(`POST ${execution}/cancel`, await server.post(`${at}/cancel`));
  expectShape(`GET ${execution}/state`, await server.get(`${at}/state`));
  expectShape(`GET ${execution}/events`, await server.get(`${at}/events`));
  const failed = await server.post("/workflows/failing/execute", { input: {} });
  const path = `/workflows/failing/executions/${failed.headers.get("x-execution-id")}`;
  expectShape(`GET ${execution}/state`, await server.get(`${path}/state`));
  expectShape(`GET ${execution}/events`, await server.get(`${path}/events`));
});

test("an execution by its id alone", async () => {
  const { executionId } = await startApproval(server);
  const at = `/api/executions/${executionId}`;
  const row = "/api/executions/:executionId";
  expectShape(`GET ${row}`, await server.get(at));
  expectShape(`GET ${row}/events`, await server.get(`${at}/events`));
  expectShape(`GET ${row}/explain`, await server.get(`${at}/explain`));
  expectShape("GET /api/executions", await server.get("/api/executions?explain=true"));
  expectShape(`POST ${row}/cancel`, await server.post(`${at}/cancel`));
});

test("health and readiness", async () => {
  expectShape("GET /ready", await server.get("/ready"));
  expectShape("GET /health", await server.get("/health"));
});

test("lists", async () => {
  await server.post("/workflows/failing/execute", { input: {} });
  expectShape("GET /api/executions", await server.get("/api/executions"));
  expectShape("GET /api/executions", await server.get("/api/executions?limit=1"));
  expectShape("GET /workflows/:id/executions", await server.get("/workflows/failing/executions"));
});

test("logs", async () => {
  await server.post("/workflows/failing/execute", { input: {} });
  expectShape("GET /api/logs", await server.get("/api/logs"));
});

test("traces: completed, failed, suspended", async () => {
  const failed = await server.post("/workflows/failing/execute", { input: {} });
  await startApproval(server, { userId: "ada" });
  expectShape("GET /api/traces", await server.get("/api/traces"));
  expectShape("GET /api/traces", await server.get("/api/traces?limit=1"));
  const { traces } = dataOf(
    await server.get(`/api/traces?executionId=${failed.headers.get("x-execution-id")}`),
  );
  const [{ traceId }] = z.tuple([z.object({ traceId: z.string() })]).parse(traces);
  expectShape("GET /api/traces/:traceId", await server.get(`/api/traces/${traceId}`));
});

test("events of a stream fit the schema of their row", async () => {
  const stream = await server.stream("/workflows/everything/stream", { input: { text: "ab" } });
  const attached = await server.stream(
    `/workflows/everything/executions/${stream.headers.get("x-execution-id")}/stream?after=100000`,
  );
  const { response } = row("POST /workflows/:id/stream");
  const same = row(`GET ${execution}/stream`).response;
  if (response.kind !== "events" || same.kind !== "events") throw new Error("a stream has no event schema");
  for (const event of await stream.rest()) expect(response.event().parse(event)).toEqual(event);
  expect(same.event).toBe(response.event);
  await attached.drop();
});

test("agents, and their whole answers", async () => {
  expectShape("GET /agents", await server.get("/agents"));
  for (const id of ["echo", "adder", "foreign"]) {
    expectShape("GET /agents/:id", await server.get(`/agents/${id}`));
  }
  for (const [id, input] of [
    ["echo", "hi"],
    ["adder", "add"],
    ["careful", "delete x"],
  ]) {
    expectShape("POST /agents/:id/text", await server.post(`/agents/${id}/text`, { input }));
  }
  const body = { input: '{"a":1}', schema: { type: "object" } };
  expectShape("POST /agents/:id/object", await server.post("/agents/object/object", body));
});

test("streams of agents", async () => {
  const options = { conversationId: "shapes" };
  const bodies: Record<string, object> = {
    stream: { input: "add", options },
    "stream-object": { input: '{"a":1}', schema: { type: "object" }, options },
    chat: { input: "add", options },
  };
  for (const [name, body] of Object.entries(bodies)) {
    const { response } = row(`POST /agents/:id/${name}`);
    if (response.kind !== "events") throw new Error(`${name} has no event schema`);
    const stream = await server.stream(
      `/agents/${name === "stream-object" ? "object" : "adder"}/${name}`,
      body,
    );
    for (const event of await stream.rest()) expect(response.event().parse(event)).toEqual(event);
  }
  const playground = "/api/agents/:id/playground";
  expectShape(`GET ${playground}`, await server.get("/api/agents/echo/playground"));
  expect(row("POST /agents/:id/chat").response).toMatchObject(row(`POST ${playground}`).response);
  const running = "/agents/:id/chat/:conversationId/stream";
  expect(row(`GET ${running}`).response).toMatchObject({ kind: "events" });
  expectShape(`DELETE ${running}`, await server.send("DELETE", "/agents/echo/chat/shapes/stream"));
});

test("messages that wait for their replies", async () => {
  const at = "/agents/held/chat/shape-line/queue";
  const queue = "/agents/:id/chat/:conversationId/queue";
  const chat = (id: string, text: string) => ({
    ...{ id: "shape-line", messages: [{ id, role: "user", parts: [{ type: "text", text }] }] },
  });
  const first = await server.stream("/agents/held/chat", chat("u1", "shape-line"));
  await gates.arrival("shape-line");
  const second = server.post("/agents/held/chat", chat("u2", "second"));
  await expect.poll(async () => listOf(dataOf(await server.get(at)), "messages")).toHaveLength(1);
  expectShape(`GET ${queue}`, await server.get(at));
  expectShape(`DELETE ${queue}/:messageId`, await server.send("DELETE", `${at}/u2`));
  expect((await second).status).toBe(409);
  gates.open("shape-line");
  await first.rest();
});

test("conversations", async () => {
  const one = "/api/conversations/:conversationId";
  const at = "/api/conversations/shapes";
  expectShape("GET /api/conversations", await server.get("/api/conversations"));
  expectShape(`GET ${one}`, await server.get(at));
  expectShape(`GET ${one}/messages`, await server.get(`${at}/messages`));
  expectShape(`PATCH ${one}`, await server.send("PATCH", at, { title: "Shapes" }));
  expectShape(`POST ${one}/fork`, await server.post(`${at}/fork`, {}));
  expectShape(`DELETE ${one}`, await server.send("DELETE", at));
  const asks = { input: [{ id: "u1", role: "user", parts: [{ type: "text", text: "delete a shape" }] }] };
  await server.post("/agents/careful/text", { ...asks, options: { conversationId: "shape-asks" } });
  const items = listOf(dataOf(await server.get("/api/inbox")), "items");
  const { approvalId } = items.find((item) => item.conversationId === "shape-asks") ?? {};
  const decision = { approvalId, approved: false };
  const decided = await server.post("/api/conversations/shape-asks/decisions", decision);
  expectShape(`POST ${one}/decisions`, decided);
  const other = await serveForTest({ agents: { waiting } });
  await other.post("/agents/waiting/text", { input: "tea", options: { conversationId: "shape-waits" } });
  const [waits = {}] = listOf(dataOf(await other.get("/api/inbox")), "items");
  const resume = { suspensionId: Object(waits.suspension).suspensionId, resumeData: { paid: true } };
  const resumed = await other.post("/api/conversations/shape-waits/resume", resume);
  expectShape(`POST ${one}/resume`, resumed);
});

test("facts and summaries", async () => {
  const model = controlledModel(() => ({ text: ["Words that are long enough to be counted as tokens."] }));
  const facts = (scope: "user" | "conversation") => ({
    facts: { schema: z.object({ name: z.string().optional() }), scope },
  });
  const agents = {
    knows: new Agent({ id: "knows", model, memory: facts("user") }),
    notes: new Agent({ id: "notes", model, memory: facts("conversation") }),
    keeper: new Agent({ id: "keeper", model, memory: { compact: { above: 60, keep: 1 } } }),
  };
  const other = await serveForTest({ agents, auth: provider() });
  const ada = bearer(await tokenFor("ada"));
  const change = { facts: { name: "Ada" } };
  const ofUser = "/api/users/:userId/facts";
  expectShape(`PATCH ${ofUser}`, await other.send("PATCH", "/api/users/ada/facts", change, ada));
  expectShape(`GET ${ofUser}`, await other.get("/api/users/ada/facts", ada));
  expectShape(`DELETE ${ofUser}`, await other.send("DELETE", "/api/users/ada/facts", undefined, ada));
  const options = { conversationId: "shape-facts" };
  await other.post("/agents/notes/text", { input: "hi", options }, ada);
  const one = "/api/conversations/:conversationId";
  const at = "/api/conversations/shape-facts/facts";
  expectShape(`PATCH ${one}/facts`, await other.send("PATCH", at, change, ada));
  expectShape(`GET ${one}/facts`, await other.get(at, ada));
  const long = { conversationId: "shape-long" };
  for (const input of ["one", "two", "three"])
    await other.post("/agents/keeper/text", { input, options: long }, ada);
  const kept = await other.get("/api/conversations/shape-long/messages", ada);
  expectShape(`GET ${one}/messages`, kept);
  const summary = listOf(dataOf(kept), "messages").find(({ role }) => role === "system");
  const path = `/api/conversations/shape-long/summaries/${summary?.id}`;
  const removed = await other.send("DELETE", path, undefined, ada);
  expectShape(`DELETE ${one}/summaries/:messageId`, removed);
});

test("the overview: the server, the inbox, activity, changes, an example", async () => {
  await startApproval(server, { userId: "ada" });
  const described = await server.get("/api/server");
  expectShape("GET /api/server", described);
  expectShape("GET /api/inbox", await server.get("/api/inbox"));
  expectShape("GET /api/activity", await server.get("/api/activity?points=5"));
  expectShape("GET /api/failures", await server.get("/api/failures"));
  expectShape("GET /api/usage", await server.get("/api/usage?by=agent"));
  expectShape("GET /api/budgets", await server.get("/api/budgets"));
  expectShape("GET /api/nodes", await server.get("/api/nodes"));
  expectShape("GET /api/workflows/:id/definitions", await server.get("/api/workflows/sum/definitions"));
  const found = await server.get("/api/search?text=ada");
  row("GET /api/search");
  // Not every store has an index of values, and the server says whether its store has one.
  if (dataOf(described).search) expectShape("GET /api/search", found);
  else errorOf(found, 501);
  expectShape("GET /api/execution-counts", await server.get("/api/execution-counts"));
  const steps = await server.get("/api/workflows/sum/activity");
  expectShape("GET /api/workflows/:id/activity", steps);
  expectShape("GET /api/workflows/:id/example", await server.get("/api/workflows/approval/example"));
  const { response } = row("GET /api/changes");
  if (response.kind !== "events") throw new Error("it does not answer events");
  const stream = new EventReader(await fetch(`${server.url}/api/changes`), "plain");
  const first = await stream.next();
  await server.post("/workflows/sum/execute", { input: { a: 1 } });
  const second = await stream.next();
  for (const event of [first, second]) expect(response.event().parse(event)).toEqual(event);
  await stream.drop();
});

test("the rows of events", async () => {
  const other = await serveForTest({ events: { shaped: defineEvent({ name: "shaped" }) } });
  const sent = await other.post("/events/shaped", { data: { a: 1 }, id: "one" });
  expectShape("POST /events/:eventName", sent, 202);
  const several = await other.post("/api/events", { events: [{ name: "shaped", data: {} }] });
  expectShape("POST /api/events", several, 202);
  expectShape("GET /api/events", await other.get("/api/events"));
  expectShape("GET /api/event-types", await other.get("/api/event-types"));
});

test("the rows of schedules", async () => {
  const one = "/api/schedules/:scheduleId";
  const path = "/api/schedules/shaped";
  const options = { workflowId: "sum", every: "1d", input: { a: 1 }, userId: "ada" };
  expectShape(`PUT ${one}`, await server.send("PUT", path, options));
  expectShape(`GET ${one}`, await server.get(path));
  expectShape("GET /api/schedules", await server.get("/api/schedules"));
  expectShape(`POST ${one}/pause`, await server.post(`${path}/pause`, { reason: "later" }));
  expectShape(`POST ${one}/resume`, await server.post(`${path}/resume`));
  expectShape(`POST ${one}/trigger`, await server.post(`${path}/trigger`));
  const span = { from: new Date(Date.now() - 172_800_000), to: new Date(), dryRun: true };
  expectShape(`POST ${one}/backfill`, await server.post(`${path}/backfill`, span));
  expectShape(`GET ${one}/occurrences`, await server.get(`${path}/occurrences`));
  const berlin = { cron: "30 2 * * *", zone: "Europe/Berlin" };
  expectShape("POST /api/schedule-preview", await server.post("/api/schedule-preview", berlin));
  expectShape(`DELETE ${one}`, await server.send("DELETE", path, {}));
});

test("the rows of endpoints and deliveries", async () => {
  const receiver = createServer((_, response) => response.writeHead(204).end()).listen(0, "127.0.0.1");
  cleanup(() => receiver.close());
  await once(receiver, "listening");
  const address = receiver.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
  const secret = `whsec_${"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`;
  const own = await serveForTest({ endpoints: { local: { url, secret, allowPrivate: true } } });
  const [one, path] = ["/api/endpoints/:endpointId", "/api/endpoints/shaped"];
  expectShape(`PUT ${one}`, await own.send("PUT", path, { url: "https://example.com/hook" }));
  expectShape(`GET ${one}`, await own.get(path));
  expectShape("GET /api/endpoints", await own.get("/api/endpoints"));
  expectShape(`POST ${one}/rotate`, await own.post(`${path}/rotate`));
  expectShape(`POST ${one}/enable`, await own.post(`${path}/enable`));
  expectShape(`DELETE ${one}`, await own.send("DELETE", path, {}));
  const sent = await own.post("/api/endpoints/local/test");
  expectShape(`POST ${one}/test`, sent);
  const delivery = `/api/deliveries/${encodeURIComponent(String(dataOf(sent).deliveryId))}`;
  await expect.poll(async () => dataOf(await own.get(delivery)).state).toBe("delivered");
  expectShape("GET /api/deliveries", await own.get("/api/deliveries?endpointId=local&limit=5"));
  const read = await own.get(delivery);
  expectShape("GET /api/deliveries/:deliveryId", read);
  expect(dataOf(read)).toMatchObject({ state: "delivered", lastStatus: 204, attempts: 1 });
  expectShape("POST /api/deliveries/:deliveryId/redeliver", await own.post(`${delivery}/redeliver`));
});

test("the row of receivers", async () => {
  const paid = defineEvent({ name: "order.paid" });
  const receivers = { shop: { verify: () => ({ id: "1" }), event: () => paid.from({}) } };
  const own = await serveForTest({ events: { paid }, receivers });
  expectShape("POST /receive/:receiver", await own.post("/receive/shop", {}), 202);
});

test("no row that answers JSON or events was left out", () => {
  const all = routes.filter(({ response }) => response.kind !== "other");
  expect([...covered].sort()).toEqual(all.map(({ method, path }) => `${method} ${path}`).sort());
});
