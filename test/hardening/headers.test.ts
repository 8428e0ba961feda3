// Headers of every JSON response: not cached, not sniffed, and a 401 names its scheme.
import { describe, expect, test } from "vitest";
import { rawRequest } from "../support/raw-request.ts";
import type { TestResponse } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { refusal } from "../support/socket-client.ts";
import { bearer, provider, tokenFor, tokenKinds } from "../support/tokens.ts";

const server = await serveForTest({ auth: provider({ webSocket: "protect" }), limits: { body: 1000 } });
const good = bearer(await tokenFor("ada"));
const execute = "/workflows/sum/execute";

const responses: Readonly<Record<string, () => Promise<TestResponse>>> = {
  "a list": () => server.get("/workflows"),
  "an execution": () => server.post(execute, { input: { a: 1 } }, good),
  "202": () => server.post(execute, { input: { a: 1 } }, { ...good, prefer: "respond-async" }),
  "/doc": () => server.get("/doc"),
  "/api/logs": () => server.get("/api/logs"),
  "400": () => server.post(execute, { input: {} }, good),
  "401": () => server.post(execute, { input: { a: 1 } }),
  "404, a workflow": () => server.get("/workflows/none"),
  "404, a route": () => server.get("/nothing/here"),
  "413": () => server.post(execute, { input: "x".repeat(2000) }, good),
  "415": () => server.send("POST", execute, { input: { a: 1 } }, { ...good, "content-type": "text/plain" }),
  "500": () => server.post("/workflows/failing/execute", { input: {} }, good),
};

test.each(Object.entries(responses))("%s: no-store and nosniff", async (_, ask) => {
  const { headers } = await ask();
  expect(headers.get("content-type")).toMatch("application/json");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test.each<[string, () => Promise<TestResponse>]>([
  ["/metrics", () => server.get("/metrics", good)],
  ["an export", () => exported()],
  ["the landing page", () => server.get("/")],
  ["a stream that is over", () => server.get("/agents/echo/chat/none/stream", good)],
])("%s: no-store and nosniff", async (_, ask) => {
  const { headers } = await ask();
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

async function exported(): Promise<TestResponse> {
  await server.post("/agents/echo/text", { input: "Hi", options: { conversationId: "kept" } }, good);
  const response = await server.get("/api/conversations/kept/export", good);
  expect(response.status).toBe(200);
  return response;
}

test("responses that never reached the app have them too", async () => {
  const { status, head } = await rawRequest(server.url, ["GET /workflows", "host: a b"]);
  expect(status).toBe(400);
  expect(head.toLowerCase()).toContain("cache-control: no-store");
  expect(head.toLowerCase()).toContain("x-content-type-options: nosniff");
});

describe("a 401 names the scheme", async () => {
  const kinds = (await tokenKinds()).filter(({ refusal: words }) => words !== undefined);

  test.each(kinds.map((each) => [each.kind, each.headers] as const))("%s", async (_, headers) => {
    const paths = ["/api/executions", "/metrics"];
    for (const path of paths) {
      const response = await server.get(path, headers);
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    }
    const refused = await refusal(server, "/ws", headers);
    expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
  });

  test("nothing else does", async () => {
    for (const ask of Object.values(responses)) {
      const { status, headers } = await ask();
      expect(headers.has("www-authenticate")).toBe(status === 401);
    }
  });
});
