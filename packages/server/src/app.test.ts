import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, createWorkflow, memoryStore, type Store, sqliteStore } from "@andante/core";
import { StoreOpenError, StoreUnavailableError } from "@andante/core/errors";
import { Hono } from "hono";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { echo } from "../../../test/support/agents.ts";
import { wrapStore } from "../../core/test/support/wrapped-store.ts";
import { type App, createApp } from "./app.ts";
import { routes } from "./routes/index.ts";

const logger = createLogger({ level: "silent" });
const hello = createWorkflow({ id: "hello", input: z.object({ name: z.string() }) }).andThen({
  id: "greet",
  execute: ({ data }) => `Hello ${data.name}`,
});

let app: App | undefined;
afterEach(() => app?.close({ grace: 0 }));

function make(store: Store): App {
  app = createApp({ workflows: { hello }, store, logger });
  return app;
}

const execute = (name: string) =>
  new Request("http://any.host/workflows/hello/execute", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input: { name } }),
  });

/** A store with some of its operations replaced. */
function storeWith(operations: Partial<Store>): Store {
  const store = memoryStore();
  return wrapStore(store, { open: () => store.open(), close: () => store.close(), ...operations });
}

test("the whole service works without a listener", async () => {
  const response = await make(memoryStore()).fetch(execute("Ada"));
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ data: { status: "completed", result: "Hello Ada" } });
});

// For a table that it refuses, Hono walks a tree: 2 % of a request. It refuses a path that an earlier one with a parameter matches.
test("one regular expression finds the row of a request", () => {
  const router = new RegExpRouter<string>();
  for (const { method, path } of routes) router.add(method, path, `${method} ${path}`);
  for (const { method, path } of routes)
    expect(router.match(method, path)[0][0]?.[0]).toBe(`${method} ${path}`);
});

test("a client that leaves is no failure in the log", async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  app = createApp({
    agents: { echo },
    store: memoryStore(),
    logger: createLogger({ level: "warn", format: "json", destination }),
  });
  const post = (path: string, body: object, signal?: AbortSignal) =>
    new Request(`http://any.host${path}`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      ...{ body: JSON.stringify(body), ...(signal && { signal }) },
    });
  await app.fetch(post("/agents/echo/text", { input: "Hello", options: { conversationId: "c" } }));
  // The abort reason is a string, as in Node's server.
  const left = AbortSignal.abort("Client connection prematurely closed.");
  const response = await app.fetch(post("/api/conversations/c/fork", {}, left));
  expect([response.status, response.headers.get("x-error-code")]).toEqual([499, "client-gone"]);
  expect(lines).toEqual([]);
});

test("a stream works without a listener, too", async () => {
  const request = new Request("http://any.host/workflows/hello/stream", execute("Ada"));
  const text = await (await make(memoryStore()).fetch(request)).text();
  expect(text).toMatch(/^(?:data: \{[^\n]*\}\n\n)+$/);
  expect(text).toContain('"type":"workflow-result"');
});

const needsQuery = (path: string) => path === "/api/search" || path === "/api/usage";

test("requests right after createApp wait for the store", async () => {
  const folder = mkdtempSync(join(tmpdir(), "andante-"));
  const { fetch, close } = make(sqliteStore({ path: join(folder, "andante.db") }));
  // Health routes choose their own status.
  const reads = routes.filter(({ method, action }) => method === "GET" && action !== "health.read");
  const asked = reads.filter(
    ({ response, path }) => response.kind === "json" && !path.includes(":") && !needsQuery(path),
  );
  const statuses = asked.map(async ({ path }) => {
    const { status } = await fetch(new Request(`http://any.host${path}`));
    return [path, status];
  });
  expect(await Promise.all(statuses)).toEqual(asked.map(({ path }) => [path, 200]));
  await close({ grace: 0 });
  rmSync(folder, { recursive: true });
});

test.each(["fetch", "app"] as const)(
  "a client of a host's own listener that does not read is cut: %s",
  async (door) => {
    const made = make(memoryStore());
    const fetch = door === "fetch" ? made.fetch : new Hono().route("/", made.app).fetch;
    const socket = new Socket();
    Object.defineProperty(socket, "writableLength", { value: 300 * 1024 * 1024 });
    const closed = once(socket, "close");
    await fetch(new Request("http://any.host/workflows"), { incoming: new IncomingMessage(socket) });
    await closed;
  },
);

test("two apps in one process do not know each other", async () => {
  const other = createApp({ workflows: {}, store: memoryStore(), logger });
  try {
    await make(memoryStore()).fetch(execute("Ada"));
    expect((await other.fetch(execute("Ada"))).status).toBe(404);
    const list = await other.fetch(new Request("http://any.host/api/executions"));
    expect(await list.json()).toEqual({ success: true, data: { executions: [], nextCursor: null } });
  } finally {
    await other.close({ grace: 0 });
  }
});

describe("trouble inside", () => {
  test("of the store is 503 with Retry-After, without its message", async () => {
    const create = () =>
      Promise.reject(new StoreUnavailableError({ cause: new Error("disk /dev/sda1 is full") }));
    const response = await make(storeWith({ create })).fetch(execute("Ada"));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("2");
    expect(await response.text()).not.toContain("sda1");
  });

  test("that is unforeseen is 500 in the envelope, without its message", async () => {
    const list = () => Promise.reject(new TypeError("Cannot read properties of undefined"));
    const response = await make(storeWith({ list })).fetch(new Request("http://any.host/api/executions"));
    expect(response.status).toBe(500);
    expect(await response.text()).toBe('{"success":false,"error":"Internal server error"}');
  });

  test("of a store that cannot be opened is 503 for callers, who do not learn where it is", async () => {
    const open = () => Promise.reject(new StoreOpenError({ path: "/srv/secret.db", problem: "no rights" }));
    const response = await make(storeWith({ open })).fetch(execute("Ada"));
    expect(response.status).toBe(503);
    expect(response.headers.get("x-error-code")).toBe("store-unavailable");
    expect(await response.text()).not.toContain("secret");
  });

  test("of a store that does not open is reported to every caller", async () => {
    const open = () => Promise.reject(new StoreUnavailableError());
    const service = make(storeWith({ open }));
    expect((await service.fetch(execute("Ada"))).status).toBe(503);
    await expect(service.andante.ready()).rejects.toThrow(StoreUnavailableError);
  });
});

test("every row of the route table has its access and its possible responses", () => {
  for (const row of routes) {
    expect(["public", "protected", "signed"], row.path).toContain(row.access);
    expect(row.summary, row.path).not.toBe("");
    const hasSubject = row.body !== undefined && row.resource.length > 0 && row.method !== "PUT";
    if (row.path.includes(":id/") || hasSubject) expect(row.errors, row.path).toContain(404);
    if (row.path.includes("/:id/")) expect(row.check, `${row.path}: 404 comes first`).toBeTypeOf("function");
  }
});

test("the rows that the contract names are marked, so that no host's route takes their place", () => {
  const named = routes.filter(({ contract }) => contract === true);
  // Written by hand from the contract's tables of endpoints.
  expect(named.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
    [
      "GET /workflows",
      "GET /workflows/:id",
      "POST /workflows/:id/execute",
      "POST /workflows/:id/stream",
      "POST /workflows/:id/executions/:executionId/suspend",
      "POST /workflows/:id/executions/:executionId/resume",
      "GET /workflows/:id/executions/:executionId/state",
      "GET /agents",
      "GET /agents/:id",
      "POST /agents/:id/text",
      "POST /agents/:id/object",
      "POST /agents/:id/stream",
      "POST /agents/:id/stream-object",
      "POST /agents/:id/chat",
      "GET /",
      "GET /doc",
      "GET /ui",
      "GET /api/logs",
    ].sort(),
  );
});

test("access is as in the contract's list: execute and stream are protected, management is public", () => {
  const access = Object.fromEntries(routes.map((row) => [`${row.method} ${row.path}`, row.access]));
  expect(access).toMatchObject({
    "GET /workflows": "public",
    "GET /workflows/:id": "public",
    "POST /workflows/:id/execute": "protected",
    "POST /workflows/:id/stream": "protected",
    "GET /workflows/:id/executions/:executionId/state": "public",
    "POST /workflows/:id/executions/:executionId/suspend": "public",
    "POST /workflows/:id/executions/:executionId/resume": "public",
    "GET /doc": "public",
  });
});
