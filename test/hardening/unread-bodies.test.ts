// A response can be sent before the request's body was read. The connection then carries the next request, which is not lost.
import { once } from "node:events";
import { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { provider, tokenFor } from "../support/tokens.ts";

const text = JSON.stringify("x".repeat(400_000));
const announced = `content-length: ${text.length}\r\n\r\n${text}`;
const chunked = `transfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

/** A server, and for each request whether its body came to its end or its connection was closed before. */
async function serveAndWatch(options: Parameters<typeof serveForTest>[0]) {
  const bodies: Promise<string>[] = [];
  const server = await serveForTest({
    middleware: [
      (http, next) => {
        const incoming: unknown = http.env.incoming;
        if (incoming instanceof IncomingMessage) {
          const closed = once(incoming.socket, "close").then(() => "closed");
          bodies.push(Promise.race([once(incoming, "end").then(() => "read to its end"), closed]));
        }
        return next();
      },
    ],
    configureApp: (app) => {
      app.post("/own/ignored", (http) => http.text("not read"));
      app.post("/own/begun", async (http) => {
        const reader = http.req.raw.body?.getReader();
        await reader?.read();
        return http.text("read in part");
      });
      app.post("/own/cancelled", async (http) => {
        await http.req.raw.body?.cancel();
        return http.text("cancelled");
      });
    },
    ...options,
  });
  const { port, hostname } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  cleanup(() => void socket.destroy());
  const send = async (request: string) => {
    socket.write(request);
    const [response] = await once(socket, "data");
    return String(response).split("\r\n", 1)[0];
  };
  return { send, bodies };
}

test.each([
  ["a path without a route", {}, "/own/missing", announced, 404],
  ["a route of the host that does not read it", {}, "/own/ignored", announced, 200],
  ["a route of the host that reads a part", {}, "/own/begun", announced, 200],
  ["a route of the host that cancels it", {}, "/own/cancelled", announced, 200],
  ["a limit of the host's routes", { limits: { customBody: 1000 } }, "/own/ignored", announced, 413],
  ["a limit, while it is sent", { limits: { body: 1000 } }, "/own/ignored", chunked, 413],
  ["the limit of a workflow's input", { limits: { body: 1000 } }, "/workflows/sum/execute", announced, 413],
  ["that limit, while it is sent", { limits: { body: 1000 } }, "/workflows/sum/execute", chunked, 413],
  ["a missing token", { auth: provider({ defaultPrivate: true }) }, "/own/private", announced, 401],
  [
    "a missing token behind a base path",
    { auth: provider({ defaultPrivate: true }), basePath: "/ai" },
    "/ai/own/private",
    announced,
    401,
  ],
] as const)("%s", async (_, options, path, body, status) => {
  const { send, bodies } = await serveAndWatch(options);
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
  expect(await send(head + body)).toContain(` ${status} `);
  expect(await bodies[0]).toBe("read to its end");
  const health = `${"basePath" in options ? options.basePath : ""}/health`;
  const token = await tokenFor("ada");
  const next = `GET ${health} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`;
  expect(await send(next)).toContain(" 200 ");
});
