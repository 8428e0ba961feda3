// Pages of other sites: an origin that `cors` refuses can neither connect a socket nor make a browser send a command without a
// preflight.
import { memoryStore } from "@andante/core";
import { type CorsOptions, createApp } from "@andante/server";
import { describe, expect, test } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { call, dataOf, errorOf, textOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";

const allowed = "https://app.example";
const foreign = "https://evil.example";
const own = (server: TestServer) => server.url;
const words = (origin: string) => `Requests from the origin ${origin} are not allowed`;

const rules: [string, CorsOptions][] = [
  ["a string", { origin: allowed }],
  ["an array", { origin: ["https://other.example", allowed] }],
  ["a function", { origin: (origin) => (origin === allowed ? origin : undefined) }],
  ["a function that always names the allowed one", { origin: () => allowed }],
];

describe.each(rules)("with %s for a rule", async (_, cors) => {
  const server = await serveForTest({
    cors,
    configureApp: (app) => app.post("/mine", (c) => c.text("mine")),
  });
  const waiting = async () => {
    const started = dataOf(await server.post("/workflows/twice/execute", { input: {} }));
    return `/workflows/twice/executions/${textOf(started, "executionId")}`;
  };

  test("a socket of an origin that is allowed connects, and so does one without an origin", async () => {
    for (const headers of [{ origin: allowed }, {}, { origin: own(server) }]) {
      const client = await SocketClient.connect(server, "/ws", headers);
      expect(await client.next()).toMatchObject({ type: "CONNECTION_TEST" });
    }
  });

  test.each([
    foreign,
    "null",
    "https://app.example.evil.example",
    "",
    "https://app.example, https://evil.example",
  ])("a socket of the origin %j is 403", async (origin) => {
    for (const path of ["/ws", "/ws/logs", "/ws/observability"]) {
      const { status, body } = await refusal(server, path, { origin });
      expect([status, body]).toEqual([403, { success: false, error: words(origin) }]);
    }
  });

  test("a command without a body is 403 from another origin, and changes nothing", async () => {
    const execution = await waiting();
    for (const origin of [foreign, "null"]) {
      for (const action of ["suspend", "resume", "cancel"]) {
        const refused = await server.post(`${execution}/${action}`, undefined, { origin });
        expect(errorOf(refused, 403)).toBe(words(origin));
        expect(refused.headers.get("access-control-allow-origin")).not.toBe(origin);
      }
      const removed = await server.send("DELETE", "/api/conversations/c", undefined, { origin });
      expect(errorOf(removed, 403)).toBe(words(origin));
      expect(errorOf(await server.post("/mine", undefined, { origin }), 403)).toBe(words(origin));
    }
    expect(dataOf(await server.get(`${execution}/state`)).status).toBe("suspended");
  });

  const withoutPreflight: readonly [type: string | undefined, body: string | undefined][] = [
    [undefined, undefined],
    ["text/plain", " "],
    ["text/plain;charset=UTF-8", "\n"],
    ["TEXT/PLAIN", '{"reason":"x"}'],
    ["application/x-www-form-urlencoded", "a=b"],
    ["multipart/form-data; boundary=b", "--b--"],
    ["text/plain, application/json", " "],
    ["application/json, text/plain", " "],
    ["text/plain; application/json", " "],
    ["", " "],
    ["json", " "],
  ];
  test.each(withoutPreflight)(
    "a command of the type %j is 403 from another origin, with any body",
    async (type, body) => {
      const execution = await waiting();
      const sent = (path: string, headers: Record<string, string>) =>
        call(server.url + path, {
          method: "POST",
          // As bytes: a text would get a type of its own.
          ...(body !== undefined && { body: new TextEncoder().encode(body) }),
          headers: { ...(type !== undefined && { "content-type": type }), ...headers },
        });
      for (const path of [`${execution}/cancel`, "/mine"]) {
        for (const origin of [foreign, "null"])
          expect(errorOf(await sent(path, { origin }), 403)).toBe(words(origin));
        for (const site of ["cross-site", "same-site"])
          expect(errorOf(await sent(path, { "sec-fetch-site": site }), 403)).toBe(words("null"));
        const fromForeign = { origin: foreign, authorization: "Basic remembered", "x-forwarded-for": "::1" };
        errorOf(await sent(path, fromForeign), 403);
      }
      expect(dataOf(await server.get(`${execution}/state`)).status).toBe("suspended");
      for (const headers of [
        { origin: allowed },
        { origin: own(server), "sec-fetch-site": "same-origin" },
        {},
      ])
        expect((await sent("/mine", headers)).text).toBe("mine");
      expect((await sent("/mine", { "sec-fetch-site": "none" })).text).toBe("mine");
    },
  );

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON",
    "application/problem+json",
    "application/octet-stream",
    "application/json, application/json",
  ])("a command of the type %j has had a preflight", async (type) => {
    const headers = { origin: foreign, "content-type": type };
    expect((await call(`${server.url}/mine`, { method: "POST", headers, body: "{}" })).text).toBe("mine");
  });

  test("from an allowed origin, from the server's own pages and from other programs it is carried out", async () => {
    for (const headers of [{ origin: allowed }, { origin: own(server) }, {}]) {
      dataOf(await server.post(`${await waiting()}/cancel`, undefined, headers));
      expect((await server.post("/mine", undefined, headers)).text).toBe("mine");
    }
  });

  test("requests with a preflight are for the browser to refuse, and reading is free", async () => {
    const headers = { origin: foreign };
    dataOf(await server.post(`${await waiting()}/cancel`, {}, headers));
    expect((await server.get("/workflows", headers)).status).toBe(200);
  });
});

test.each([
  ["the default", undefined],
  ["*", { origin: "*" }],
  ["* in an array", { origin: [allowed, "*"] }],
  ["a function that returns *", { origin: () => "*" }],
  ["false, which leaves it to the host", false],
] as const)("with %s nothing is foreign", async (_, cors) => {
  const server = await serveForTest(cors === undefined ? {} : { cors });
  const client = await SocketClient.connect(server, "/ws", { origin: foreign });
  expect(await client.next()).toMatchObject({ type: "CONNECTION_TEST" });
  errorOf(await server.post("/workflows/twice/executions/none/cancel", undefined, { origin: foreign }), 404);
});

test("a request that was handed over without a listener is judged in the same way", async () => {
  const { fetch, close } = createApp({ store: memoryStore(), cors: { origin: allowed } });
  cleanup(close);
  const send = (headers: Record<string, string>) =>
    fetch(new Request("http://any.host/api/executions/none/cancel", { method: "POST", headers }));
  expect((await send({ origin: foreign })).status).toBe(403);
  expect((await send({ origin: foreign, "content-type": "application/json" })).status).toBe(404);
  expect((await send({})).status).toBe(404);
});
