// `serve` with a base path: it prints its address, its links lead back to it, and nothing is served elsewhere.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { serve } from "@andante/server";
import { expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { call, dataOf, errorOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";
import { provider } from "../support/tokens.ts";

const server = await serveForTest({ basePath: "ai/" });
const { origin } = new URL(server.url);

test("the address of the server has it", async () => {
  expect(server.url).toBe(`${origin}/ai`);
  expect(dataOf(await server.get("/health"))).toEqual({ status: "ok" });
});

test("outside it there is nothing", async () => {
  expect(errorOf(await call(`${origin}/health`), 404)).toBe("No route for GET /health");
  expect(errorOf(await call(`${origin}/aim/health`), 404)).toBe("No route for GET /aim/health");
  expect(await refusal({ url: origin }, "/ws")).toMatchObject({ status: 404 });
});

test("a method that no route can have is not found, as without it", async () => {
  const asked = request(`${server.url}/health`, { method: "TRACE" }).end();
  const [response]: IncomingMessage[] = await once(asked, "response");
  response?.resume();
  expect(response?.statusCode).toBe(404);
});

test("Location leads to the state", async () => {
  const body = { input: { door: "base path" } };
  const { status, headers } = await server.post("/workflows/gated/execute", body, {
    prefer: "respond-async",
  });
  expect(status).toBe(202);
  const state = await call(new URL(headers.get("location") ?? "", origin).href);
  expect(dataOf(state)).toMatchObject({ status: "running" });
  gates.open("base path");
});

test("sockets are below it", async () => {
  const socket = await SocketClient.connect(server, "/ws");
  expect(await socket.next()).toMatchObject({ type: "CONNECTION_TEST" });
  socket.socket.close();
});

test("publicRoutes are written without it, and nothing else is opened by an address that has it twice", async () => {
  const auth = provider({ defaultPrivate: true, publicRoutes: ["GET /health", "GET /ai/*"] });
  const closed = await serveForTest({ basePath: "/ai", auth });
  expect((await closed.get("/health")).status).toBe(200);
  expect(errorOf(await closed.get("/workflows"), 401)).toBe("Authentication required");
  expect((await closed.get("/ai/workflows")).status).toBe(404);
});

test("a base path that no request can have is refused before anything is opened", async () => {
  await expect(serve({ basePath: "/a b" })).rejects.toThrow('basePath: "/a b": expected a path of letters');
});
