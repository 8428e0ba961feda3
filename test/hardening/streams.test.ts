// Event streams: only so many at once, each place given back however its client leaves.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { errorOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";

const refused = "Too many event streams are open (limit 2), try again later";
const stream = "/workflows/gated/stream";
const bodyOf = (door: string) => ({ input: { door } });

/** How many executions there are. */
const count = async (server: TestServer) =>
  (await server.andante.list({ workflowId: "gated", limit: 500 })).executions.length;

describe("beyond the limit", async () => {
  const server = await serveForTest({ limits: { streams: 2 } });

  test("a stream is refused with Retry-After, and starts nothing", async () => {
    const first = await server.stream(stream, bodyOf("streams-a"));
    const executionId = first.headers.get("x-execution-id");
    const attach = `/workflows/gated/executions/${executionId}/stream`;
    const second = await server.stream(attach);
    const before = await count(server);
    const bodies = { input: "Hello" };
    for (const response of [
      await server.post(stream, bodyOf("streams-a")),
      await server.get(attach),
      await server.post("/agents/echo/stream", bodies),
      await server.post("/agents/echo/stream-object", { ...bodies, schema: { type: "object" } }),
      await server.post("/agents/echo/chat", bodies),
    ]) {
      expect([errorOf(response, 503), response.headers.get("retry-after")]).toEqual([refused, "1"]);
    }
    expect(await count(server)).toBe(before);
    gates.open("streams-a");
    await first.rest();
    await second.rest();
  });

  test("a place is free again when a stream has ended, failed or had nothing to send", async () => {
    for (let n = 0; n < 5; n++) {
      expect((await server.post(stream, { input: 5 })).status).toBe(400);
      expect((await server.post("/workflows/nobody/stream", {})).status).toBe(404);
      const run = await server.stream("/workflows/sum/stream", { input: { a: 1 } });
      await run.rest();
      const id = run.headers.get("x-execution-id");
      expect((await server.get(`/workflows/sum/executions/${id}/stream?after=1000`)).status).toBe(204);
      expect((await server.send("HEAD", `/workflows/sum/executions/${id}/stream`)).status).toBe(200);
      await (await server.stream("/agents/echo/stream", { input: "Hello" })).rest();
    }
  });
});

describe("two hundred clients that vanish", async () => {
  const clients = 200;
  const server = await serveForTest({ limits: { streams: clients, running: 10_000 } });
  const { port, hostname, host } = new URL(server.url);

  const open = async (): Promise<Socket> => {
    const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
    await once(socket, "connect");
    const body = JSON.stringify(bodyOf("streams-b"));
    socket.write(
      `POST ${stream} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
    return socket;
  };
  const places = async () => {
    const response = await fetch(server.url + stream, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(bodyOf("streams-b")),
    });
    await response.body?.cancel();
    return response.status;
  };

  test.each([
    ["while they read", async (socket: Socket) => void (await once(socket, "data"))],
    ["without reading", async (socket: Socket) => void socket.pause()],
    ["before they get a response", async () => undefined],
  ])("%s leave their places", async (_, then) => {
    const sockets = await Promise.all(Array.from({ length: clients }, open));
    await Promise.all(sockets.map(then));
    for (const socket of sockets) socket.resetAndDestroy();
    await expect.poll(places).toBe(200);
    const again = await Promise.all(Array.from({ length: clients }, open));
    const first = await Promise.all(again.map(async (socket) => String((await once(socket, "data"))[0])));
    expect(first.filter((text) => text.startsWith("HTTP/1.1 200"))).toHaveLength(clients);
    for (const socket of again) socket.destroy();
    await expect.poll(places).toBe(200);
  });
});

test("a rule of cors that throws takes no place and starts nothing", async () => {
  let isBroken = true;
  const origin = (asked: string) => {
    if (isBroken) throw new Error("no");
    return asked;
  };
  const server = await serveForTest({ limits: { streams: 1 }, cors: { origin } });
  const headers = { origin: "http://page.example" };
  for (let n = 0; n < 3; n += 1)
    expect((await server.post("/workflows/sum/stream", { input: { a: 1 } }, headers)).status).toBe(500);
  isBroken = false;
  expect((await server.post("/workflows/sum/stream", { input: { a: 1 } }, headers)).status).toBe(200);
  expect((await server.andante.list({})).executions).toHaveLength(1);
});
