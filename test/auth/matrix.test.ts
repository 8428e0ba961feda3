// Every route × every kind of token × every mode. Who needs a token is written here by hand from the contract and the
// design, not derived from the code: a route that is added without a line here fails the first test.
import { describe, expect, test } from "vitest";
import { routes } from "../../packages/server/src/routes/index.ts";
import { call, dataOf, errorOf, type TestResponse } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor, tokenKinds } from "../support/tokens.ts";

interface Expectation {
  /** In opt-in mode. */
  readonly access: "public" | "protected" | "signed";
  /** In opt-out mode with the `publicRoutes` below. */
  readonly listed: "public" | "protected" | "signed";
  /** The status once the caller is in; the execution that is asked about has ended. */
  readonly status: number;
  /** The status for an anonymous caller that is let in, where it differs: some data belongs to users. */
  readonly unknown?: number;
  readonly body?: object;
}

const publicRoutes = [
  "GET /workflows/*",
  "POST /agents/:id/text",
  "POST /workflows/:id/stream",
  "GET /health",
  "GET /ui*",
];

const start = { input: { a: 1 } };
const execution = "/workflows/:id/executions/:executionId";
const anyExecution = "/api/executions/:executionId";
const ask = { input: "hi" };
const askForObject = { input: "[1]", schema: { type: "array" } };
const running = "/agents/:id/chat/:conversationId/stream";
const conversation = "/api/conversations/:conversationId";
const schedule = "/api/schedules/:scheduleId";
const endpoint = "/api/endpoints/:endpointId";
const delivery = "/api/deliveries/:deliveryId";
/** For operators: there are none here. */
const forOperators = { access: "protected", listed: "protected", status: 403 } as const;
const table: Readonly<Record<string, Expectation>> = {
  "POST /events/:eventName": { access: "protected", listed: "protected", status: 404, body: { data: {} } },
  "POST /api/events": {
    access: "protected",
    listed: "protected",
    status: 404,
    body: { events: [{ name: "none", data: {} }] },
  },
  "GET /api/events": { access: "protected", listed: "protected", status: 200 },
  "GET /api/event-types": { access: "protected", listed: "protected", status: 200 },
  // The signature of the link is the permission, in every mode.
  "GET /decide/:token": { access: "signed", listed: "signed", status: 404 },
  "POST /decide/:token": { access: "signed", listed: "signed", status: 404 },
  "POST /receive/:receiver": { access: "signed", listed: "signed", status: 404 },
  "GET /api/endpoints": forOperators,
  [`GET ${endpoint}`]: forOperators,
  [`PUT ${endpoint}`]: { ...forOperators, body: { url: "https://example.com" } },
  [`DELETE ${endpoint}`]: forOperators,
  [`POST ${endpoint}/rotate`]: forOperators,
  [`POST ${endpoint}/enable`]: forOperators,
  [`POST ${endpoint}/test`]: forOperators,
  "GET /api/deliveries": forOperators,
  [`GET ${delivery}`]: forOperators,
  [`POST ${delivery}/redeliver`]: forOperators,
  "GET /api/schedules": { access: "protected", listed: "protected", status: 200 },
  [`GET ${schedule}`]: { access: "protected", listed: "protected", status: 404 },
  [`PUT ${schedule}`]: {
    access: "protected",
    listed: "protected",
    status: 404,
    body: { workflowId: "none", cron: "@daily" },
  },
  [`DELETE ${schedule}`]: { access: "protected", listed: "protected", status: 404 },
  [`POST ${schedule}/pause`]: { access: "protected", listed: "protected", status: 404, body: {} },
  [`POST ${schedule}/resume`]: { access: "protected", listed: "protected", status: 404 },
  [`POST ${schedule}/trigger`]: { access: "protected", listed: "protected", status: 404 },
  [`POST ${schedule}/backfill`]: {
    access: "protected",
    listed: "protected",
    status: 404,
    body: { from: "2027-01-01", to: "2027-01-02" },
  },
  [`GET ${schedule}/occurrences`]: { access: "protected", listed: "protected", status: 404 },
  "POST /api/schedule-preview": {
    access: "protected",
    listed: "protected",
    status: 200,
    body: { cron: "@daily" },
  },
  "GET /agents": { access: "public", listed: "protected", status: 200 },
  "GET /agents/:id": { access: "public", listed: "protected", status: 200 },
  "POST /agents/:id/text": { access: "protected", listed: "public", status: 200, body: ask },
  "POST /agents/:id/object": { access: "protected", listed: "protected", status: 200, body: askForObject },
  "POST /agents/:id/stream": { access: "protected", listed: "protected", status: 200, body: ask },
  "POST /agents/:id/stream-object": {
    access: "protected",
    listed: "protected",
    status: 200,
    body: askForObject,
  },
  "POST /agents/:id/chat": { access: "protected", listed: "protected", status: 200, body: ask },
  [`GET ${running}`]: { access: "protected", listed: "protected", status: 204 },
  [`DELETE ${running}`]: { access: "protected", listed: "protected", status: 200 },
  "GET /agents/:id/chat/:conversationId/queue": { access: "protected", listed: "protected", status: 200 },
  "DELETE /agents/:id/chat/:conversationId/queue/:messageId": {
    ...{ access: "protected", listed: "protected", status: 404 },
  },
  // Only an `authorize` permits it.
  "GET /api/agents/:id/playground": { access: "protected", listed: "protected", status: 403 },
  "POST /api/agents/:id/playground": { access: "protected", listed: "protected", status: 403, body: ask },
  "GET /api/conversations": { access: "protected", listed: "protected", status: 200 },
  [`GET ${conversation}`]: { access: "protected", listed: "protected", status: 404 },
  [`GET ${conversation}/messages`]: { access: "protected", listed: "protected", status: 404 },
  [`PATCH ${conversation}`]: { access: "protected", listed: "protected", status: 404, body: { title: "x" } },
  [`GET ${conversation}/export`]: { access: "protected", listed: "protected", status: 404 },
  [`POST ${conversation}/fork`]: { access: "protected", listed: "protected", status: 404, body: {} },
  [`POST ${conversation}/decisions`]: {
    ...{ access: "protected", listed: "protected", status: 404 },
    body: { approvalId: "a", approved: true },
  },
  [`POST ${conversation}/resume`]: {
    ...{ access: "protected", listed: "protected", status: 404 },
    body: { suspensionId: "s" },
  },
  [`DELETE ${conversation}/summaries/:messageId`]: {
    ...{ access: "protected", listed: "protected", status: 404 },
  },
  [`GET ${conversation}/facts`]: { access: "protected", listed: "protected", status: 404 },
  [`PATCH ${conversation}/facts`]: {
    ...{ access: "protected", listed: "protected", status: 404 },
    body: { facts: { name: "Ada" } },
  },
  "GET /api/users/:userId/facts": { access: "protected", listed: "protected", status: 200 },
  "PATCH /api/users/:userId/facts": {
    ...{ access: "protected", listed: "protected", status: 400 },
    body: { facts: { name: "Ada" } },
  },
  "DELETE /api/users/:userId/facts": { access: "protected", listed: "protected", status: 200 },
  "GET /api/usage": { access: "protected", listed: "protected", status: 400 },
  "GET /api/budgets": { access: "protected", listed: "protected", status: 200 },
  [`DELETE ${conversation}`]: { access: "protected", listed: "protected", status: 404 },
  "GET /workflows": { access: "public", listed: "protected", status: 200 },
  "GET /workflows/:id": { access: "public", listed: "public", status: 200 },
  "POST /workflows/:id/execute": { access: "protected", listed: "protected", status: 200, body: start },
  "POST /workflows/:id/stream": { access: "protected", listed: "public", status: 200, body: start },
  [`GET ${execution}/state`]: { access: "public", listed: "public", status: 200 },
  [`POST ${execution}/suspend`]: { access: "public", listed: "protected", status: 400 },
  [`POST ${execution}/resume`]: { access: "public", listed: "protected", status: 404 },
  [`POST ${execution}/cancel`]: { access: "protected", listed: "protected", status: 400 },
  [`POST ${execution}/replay`]: {
    access: "protected",
    listed: "protected",
    status: 200,
    body: { stepId: "wrap" },
  },
  [`GET ${execution}/events`]: { access: "protected", listed: "public", status: 200, unknown: 403 },
  [`GET ${execution}/stream`]: { access: "protected", listed: "public", status: 200, unknown: 403 },
  "GET /workflows/:id/executions": { access: "protected", listed: "public", status: 200 },
  "GET /api/execution-counts": { access: "protected", listed: "protected", status: 200 },
  "GET /api/executions": { access: "protected", listed: "protected", status: 200 },
  [`GET ${anyExecution}`]: { access: "protected", listed: "protected", status: 200 },
  // Without a text to search for.
  "GET /api/search": { access: "protected", listed: "protected", status: 400 },
  [`GET ${anyExecution}/explain`]: { access: "protected", listed: "protected", status: 200 },
  [`GET ${anyExecution}/events`]: { access: "protected", listed: "protected", status: 200 },
  [`POST ${anyExecution}/cancel`]: { access: "protected", listed: "protected", status: 400 },
  "GET /api/server": { access: "protected", listed: "protected", status: 200 },
  "GET /api/inbox": { access: "protected", listed: "protected", status: 200 },
  "GET /api/activity": { access: "protected", listed: "protected", status: 200 },
  "GET /api/workflows/:id/definitions": { access: "protected", listed: "protected", status: 200 },
  // A user sees only its own, and nodes are no user's.
  "GET /api/nodes": { access: "protected", listed: "protected", status: 403 },
  "GET /api/failures": { access: "protected", listed: "protected", status: 200 },
  "GET /api/workflows/:id/activity": { access: "protected", listed: "protected", status: 200 },
  "GET /api/changes": { access: "protected", listed: "protected", status: 200 },
  "GET /api/workflows/:id/example": { access: "public", listed: "protected", status: 200 },
  "GET /api/logs": { access: "public", listed: "protected", status: 200 },
  "GET /api/traces": { access: "protected", listed: "protected", status: 200 },
  "GET /api/traces/:traceId": { access: "protected", listed: "protected", status: 200 },
  "GET /metrics": { access: "protected", listed: "protected", status: 200 },
  "GET /": { access: "public", listed: "protected", status: 200 },
  "GET /doc": { access: "public", listed: "protected", status: 200 },
  "GET /ui": { access: "public", listed: "public", status: 200 },
  "GET /ui/:file": { access: "public", listed: "public", status: 200 },
  "GET /health": { access: "public", listed: "public", status: 200 },
  "GET /ready": { access: "public", listed: "protected", status: 200 },
};

const nameOf = (row: { method: string; path: string }) => `${row.method} ${row.path}`;
const expectationOf = (row: { method: string; path: string }): Expectation => {
  const expected = table[nameOf(row)];
  if (expected === undefined) throw new Error(`${nameOf(row)} is not in the table of this test`);
  return expected;
};

/** Reads a stream as far as its first event, and everything else whole. */
async function openOnly(url: string, init: RequestInit): Promise<TestResponse> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  if (!headers.get("content-type")?.startsWith("text/event-stream") || init.method === "HEAD")
    return { status, headers, text: await response.text() };
  await response.body?.cancel();
  return { status, headers, text: "" };
}

const statusFor = ({ status, unknown = status }: Expectation, isUnknown: boolean) =>
  isUnknown ? unknown : status;

test("every route has a line in the table, and every line a route", () => {
  expect(routes.map(nameOf).sort()).toEqual(Object.keys(table).sort());
});

const modes = [
  { mode: "opt-in", options: {}, needsToken: (each: Expectation) => each.access === "protected" },
  {
    mode: "opt-out",
    options: { defaultPrivate: true },
    needsToken: (each: Expectation) => each.access !== "signed",
  },
  {
    mode: "opt-out with publicRoutes",
    options: { defaultPrivate: true, publicRoutes },
    needsToken: (each: Expectation) => each.listed === "protected",
  },
  {
    mode: "opt-in with publicRoutes",
    options: { publicRoutes },
    needsToken: (each: Expectation) => each.access === "protected" && each.listed === "protected",
  },
];

describe.each(modes)("$mode", async ({ options, needsToken }) => {
  const kinds = await tokenKinds();
  const server = await serveForTest({ auth: provider(options) });
  const executed = await server.post("/workflows/sum/execute", start, bearer(await tokenFor("ada")));
  const executionId = String(dataOf(executed).executionId);
  const traceId = executed.headers.get("traceparent")?.split("-")[1] ?? "";

  const send = (method: string, path: string, headers: Record<string, string>, body?: object) => {
    const id = /^(\/api)?\/agents/.test(path) ? "object" : "sum";
    const values: Record<string, string> = {
      id,
      executionId,
      traceId,
      file: "swagger-ui.css",
      conversationId: "none",
      messageId: "none",
      userId: "ada",
      scheduleId: "none",
      eventName: "none",
      ...{ token: "none", receiver: "none", endpointId: "none", deliveryId: "none" },
    };
    const address = path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? "");
    const json = body && { "content-type": "application/json" };
    // The one stream that never ends by itself.
    const read = path === "/api/changes" ? openOnly : call;
    return read(server.url + address, {
      method,
      headers: { ...headers, ...json },
      ...(body && { body: JSON.stringify(body) }),
    });
  };

  test.each(routes.map((row) => [nameOf(row), row] as const))("%s", async (_, row) => {
    const expected = expectationOf(row);
    const guarded = needsToken(expected);
    for (const { kind, headers, refusal } of kinds) {
      const answer = await send(row.method, row.path, headers, expected.body);
      if (guarded && refusal !== undefined) {
        expect(errorOf(answer, 401), kind).toMatch(refusal);
      } else {
        expect(answer.status, kind).toBe(statusFor(expected, refusal !== undefined));
      }
    }
  });

  test("HEAD is judged as GET, on every route that has one", async () => {
    for (const row of routes.filter(({ method }) => method === "GET")) {
      const expected = expectationOf(row);
      for (const { kind, headers, refusal } of kinds) {
        const answer = await send("HEAD", row.path, headers);
        const refused = needsToken(expected) && refusal !== undefined;
        const status = refused ? 401 : statusFor(expected, refusal !== undefined);
        expect(answer.status, `${nameOf(row)}, ${kind}`).toBe(status);
        expect(answer.text).toBe("");
      }
    }
  });

  test("an unknown path needs a token where everything does", async () => {
    const closed = "defaultPrivate" in options;
    const answer = await server.get("/nowhere");
    expect(answer.status).toBe(closed ? 401 : 404);
    const known = await server.get("/nowhere", bearer(await tokenFor("ada")));
    expect(errorOf(known, 404)).toBe("No route for GET /nowhere");
  });
});
