// allowedHosts: requests and sockets that name another host are refused, against DNS rebinding.
import { request } from "node:http";
import { memoryStore } from "@andante/core";
import { createApp } from "@andante/server";
import { describe, expect, test } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";

/** Sends a request with any `Host`: `fetch` sets its own. */
async function statusOf(
  server: TestServer,
  host: string,
  path = "/workflows",
  headers = {},
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(server.url + path, { headers: { host, ...headers }, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  sent.on("error", reject).end();
  return promise;
}

const portOf = (server: TestServer) => new URL(server.url).port;

describe("with it", async () => {
  const allowedHosts = [
    "localhost",
    "API.example.com",
    "[::1]",
    "127.0.0.1",
    "ports.example:8080",
    "plain.example:80",
    "secure.example:443",
    "b\u00fccher.example",
  ];
  const server = await serveForTest({
    allowedHosts,
    configureApp: (app) => app.get("/mine", (c) => c.text("mine")),
  });

  test.each([
    "localhost",
    "LOCALHOST:3141",
    "localhost.",
    "api.example.com",
    "api.example.com:443",
    "[::1]:3141",
    "127.0.0.1:1",
    "ports.example:8080",
    "plain.example",
    "plain.example:80",
    "secure.example",
    "xn--bcher-kva.example",
  ])("the host %s is served, by sockets too", async (host) => {
    for (const path of ["/workflows", "/mine", "/health"])
      expect(await statusOf(server, host, path)).toBe(200);
    const client = await SocketClient.connect(server, "/ws", { host });
    expect(await client.next()).toMatchObject({ type: "CONNECTION_TEST" });
  });

  test.each([
    "evil.example",
    "evil.example:3141",
    "localhost.evil.example",
    "notlocalhost",
    "sub.api.example.com",
    "ports.example",
    "ports.example:8081",
    "secure.example:80",
    "plain.example:3141",
    "127.0.0.2",
  ])("the host %s is 403 on every route, custom and unknown ones too, and for sockets", async (host) => {
    for (const path of ["/workflows", "/mine", "/health", "/console", "/nowhere", "/api/server"])
      expect(await statusOf(server, host, path), path).toBe(403);
    const own = { origin: `http://${host}` };
    for (const path of ["/ws", "/ws/logs", "/ws/observability"]) {
      const { status, body } = await refusal(server, path, { host, ...own });
      expect([status, body.error]).toEqual([403, `Requests to the host "${host}" are not allowed`]);
    }
  });

  test.each(["evil.example@localhost", "localhost:x", "localhost, evil.example", "[::1"])(
    "%s is no host",
    async (host) => {
      // The listener refuses it before the check does.
      expect(await statusOf(server, host)).toBe(400);
      expect((await refusal(server, "/ws", { host })).status).toBe(403);
    },
  );

  test("forwarded host headers do not count", async () => {
    expect(await statusOf(server, "evil.example", "/workflows", { "x-forwarded-host": "localhost" })).toBe(
      403,
    );
  });
});

test("without it every host is served", async () => {
  const server = await serveForTest();
  expect(await statusOf(server, "evil.example")).toBe(200);
  const client = await SocketClient.connect(server, "/ws", { host: `evil.example:${portOf(server)}` });
  expect(await client.next()).toMatchObject({ type: "CONNECTION_TEST" });
});

test("without a listener the address of the request counts", async () => {
  const { fetch, close } = createApp({ store: memoryStore(), allowedHosts: ["good.example"] });
  cleanup(close);
  expect((await fetch(new Request("http://good.example/workflows"))).status).toBe(200);
  const refused = await fetch(new Request("http://evil.example/workflows"));
  expect([refused.status, refused.headers.get("x-error-code")]).toEqual([403, "host-not-allowed"]);
});

test.each([
  ["not a list", "localhost"],
  ["an empty list", []],
  ["an address", ["http://localhost"]],
  ["a path", ["localhost/x"]],
  ["a pattern", ["*.example.com"]],
  ["a port that is none", ["localhost:port"]],
  ["nothing", [""]],
  ["several in one", ["a.example, b.example"]],
  ["a number", [3141]],
])("%s is refused at start", (_, allowedHosts) => {
  expect(() => Reflect.apply(createApp, undefined, [{ store: memoryStore(), allowedHosts }])).toThrow(
    /^Option allowedHosts: expected /,
  );
});
