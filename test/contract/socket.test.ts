// /ws: connection test and echo, open unless `auth.webSocket` protects it
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startServer, type TestServer } from "../support/support.ts";
import { bearer, provider, tokenFor, tokenKinds } from "../support/tokens.ts";

let server: TestServer | undefined;
afterEach(() => server?.close());

/** Connects and collects what comes; the first message is the greeting. */
async function connect(path: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${server?.url.replace("http", "ws")}${path}`, { headers });
  const waiting: ((message: unknown) => void)[] = [];
  const arrived: unknown[] = [];
  socket.on("message", (raw) => {
    const message: unknown = JSON.parse(raw.toString());
    const next = waiting.shift();
    if (next === undefined) arrived.push(message);
    else next(message);
  });
  await once(socket, "open");
  const next = () =>
    arrived.length > 0
      ? Promise.resolve(arrived.shift())
      : new Promise<unknown>((resolve) => waiting.push(resolve));
  return { socket, next };
}

/** The answer to a connection that is refused. */
async function refused(path: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${server?.url.replace("http", "ws")}${path}`, { headers });
  const [, response]: [unknown, IncomingMessage] = await new Promise((resolve) =>
    socket.on("unexpected-response", (request, answer) => resolve([request, answer])),
  );
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, body: JSON.parse(text), headers: response.headers };
}

describe("/ws", () => {
  test("greets, then sends each message back: JSON parsed, other text as a string", async () => {
    server = await startServer();
    const { socket, next } = await connect("/ws");
    expect(await next()).toEqual({ type: "CONNECTION_TEST", success: true, data: { message: "connected" } });
    socket.send('{"a":[1]}');
    expect(await next()).toEqual({ type: "ECHO", success: true, data: { a: [1] } });
    socket.send("hello { not json");
    expect(await next()).toEqual({ type: "ECHO", success: true, data: "hello { not json" });
  });

  test("closes a client whose message is over a megabyte, and only that one", async () => {
    server = await startServer();
    const loud = await connect("/ws");
    const calm = await connect("/ws");
    await calm.next();
    loud.socket.send("x".repeat(1024 * 1024 + 1));
    const [code] = await once(loud.socket, "close");
    expect(code).toBe(1009);
    calm.socket.send("1");
    expect(await calm.next()).toMatchObject({ data: 1 });
  });

  test("closes with 1001 when the server shuts down, without delaying it", async () => {
    const stopping = await startServer();
    server = stopping;
    const { socket } = await connect("/ws");
    const closed = once(socket, "close");
    await stopping.close();
    expect((await closed)[0]).toBe(1001);
  });

  test("refuses more clients than the limit with 503 and Retry-After", async () => {
    server = await startServer({ limits: { sockets: 1 } });
    await connect("/ws");
    const { status, body, headers } = await refused("/ws");
    expect([status, headers["retry-after"]]).toEqual([503, "1"]);
    expect(body).toEqual({ success: false, error: "Too many sockets are open (limit 1), try again later" });
  });

  test("an unknown socket path is the 404 envelope", async () => {
    server = await startServer();
    const { status, body } = await refused("/ws/nothing");
    expect(status).toBe(404);
    expect(body).toEqual({ success: false, error: "No route for GET /ws/nothing" });
  });
});

describe("authentication of sockets", () => {
  test.each([false, true])("sockets are open by default (defaultPrivate %s)", async (defaultPrivate) => {
    server = await startServer({ auth: provider({ defaultPrivate }) });
    const { next } = await connect("/ws");
    expect(await next()).toMatchObject({ type: "CONNECTION_TEST" });
  });

  test("webSocket: protect asks for a token, with the contract's messages", async () => {
    server = await startServer({ auth: provider({ webSocket: "protect" }) });
    for (const { headers, refusal } of await tokenKinds()) {
      if (refusal === undefined) continue;
      const { status, body } = await refused("/ws", headers);
      expect(status).toBe(401);
      expect(body).toEqual({ success: false, error: expect.stringMatching(refusal) });
    }
  });

  test("webSocket: protect takes the token from the header or from ?token=", async () => {
    server = await startServer({ auth: provider({ webSocket: "protect" }) });
    const token = await tokenFor("ada");
    for (const open of [connect("/ws", bearer(token)), connect(`/ws?token=${token}`)]) {
      expect(await (await open).next()).toMatchObject({ type: "CONNECTION_TEST" });
    }
    expect((await refused("/ws?token=bad")).body.error).toMatch(/^Invalid token: ./);
  });
});
