// Places shared by clients: when all are taken, a client that holds many gives one up for a client that holds few.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { Agent, createWorkflow, memoryStore } from "@andante/core";
import { createApp } from "@andante/server";
import { getRequestListener } from "@hono/node-server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { cleanup } from "../support/cleanup.ts";
import { gates } from "../support/gates.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const stream = "/workflows/gated/stream";
const from = (address: string) => ({ "x-forwarded-for": address });

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("the server does not listen on a port");
  return `http://127.0.0.1:${address.port}`;
}

/** Opens a stream, and resolves `ended` when it is over in any way. */
async function open(server: TestServer, headers: Record<string, string>, door = "shares") {
  const response = await fetch(server.url + stream, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ input: { door } }),
  });
  const leave = () => response.body?.cancel();
  const ended = response.text().then(
    () => "ended",
    () => "cut",
  );
  return { status: response.status, ended, leave, code: response.headers.get("x-error-code") };
}

test("replies of agents for one user leave room for others", async () => {
  const held = Promise.withResolvers<void>();
  const model = controlledModel(() => ({ text: ["done"], hold: () => held.promise }));
  const server = await serveForTest({
    agents: { slow: new Agent({ id: "slow", model }) },
    auth: provider(),
    limits: { agentReplies: 10 },
  });
  const ask = async (user: string) => {
    const headers = bearer(await tokenFor(user));
    const { status } = await server.post("/agents/slow/text", { input: "Hello" }, headers);
    return status;
  };
  const eves = Array.from({ length: 10 }, () => ask("eve"));
  await expect.poll(() => model.asked.length).toBe(10);
  expect(await ask("eve")).toBe(503);
  const ada = ask("ada");
  await expect.poll(() => model.asked.length).toBe(11);
  expect(await ask("bob")).toBe(503);
  held.resolve();
  expect(await Promise.all([...eves, ada])).toEqual(Array(11).fill(200));
});

describe("streams", () => {
  test("of one user leave room for others; a user beyond its share is refused", async () => {
    const server = await serveForTest({
      auth: provider(),
      limits: { streams: 10, clientShare: 0.2 },
    });
    const [ann, ben] = [bearer(await tokenFor("ann")), bearer(await tokenFor("ben"))];
    const held = [];
    for (let n = 0; n < 10; n++) held.push(await open(server, ann));
    expect(held.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await open(server, ann)).toMatchObject({ status: 503, code: "stream-limit" });
    const own = [await open(server, ben), await open(server, ben)];
    expect(own.map(({ status }) => status)).toEqual([200, 200]);
    expect(await Promise.all([held[9]?.ended, held[8]?.ended])).toEqual(["cut", "cut"]);
    expect((await open(server, ben)).status).toBe(503);
    gates.open("shares");
    expect(await Promise.all([...held.slice(0, 8), ...own].map(({ ended }) => ended))).toEqual(
      Array(10).fill("ended"),
    );
  });

  test.each([
    ["one proxy is trusted, addresses share", 1, 200],
    ["none is, all behind it are one client", 0, 503],
  ])("without users, and where %s", async (_, trustProxy, expected) => {
    const server = await serveForTest({ trustProxy, limits: { streams: 4 } });
    const statusFrom = async (addresses: string) =>
      (await open(server, from(addresses), "shares-addresses")).status;
    for (let n = 0; n < 4; n++) expect(await statusFrom(`${n}.9.9.9, 1.2.3.4`)).toBe(200);
    expect(await statusFrom("5.9.9.9, 1.2.3.4")).toBe(503);
    expect(await statusFrom("1.2.3.4, 5.6.7.8")).toBe(expected);
  });
});

test("sockets of one address leave room for another; the one that is cut may try again later", async () => {
  const server = await serveForTest({ trustProxy: 1, limits: { sockets: 3 } });
  const connect = (address: string) => SocketClient.connect(server, "/ws", from(address));
  const [, , newest] = [await connect("1.2.3.4"), await connect("1.2.3.4"), await connect("1.2.3.4")];
  expect(await refusal(server, "/ws", from("1.2.3.4"))).toMatchObject({ status: 503 });
  const closed = once(newest.socket, "close");
  await connect("5.6.7.8");
  expect((await closed)[0]).toBe(1013);
});

test("a socket whose client resets it while its token is verified leaves its place", async () => {
  const asked = Promise.withResolvers<void>();
  const verified = Promise.withResolvers<void>();
  const verifyToken = async () => {
    asked.resolve();
    await verified.promise;
    return { sub: "ada" };
  };
  const app = createApp({
    store: memoryStore(),
    logger: silentLogger,
    auth: { type: "test", verifyToken },
    limits: { sockets: 1 },
  });
  cleanup(() => app.close());
  const closed = Promise.withResolvers<void>();
  const upgrade: typeof app.websocket = (request, socket, head) => {
    socket.once("close", () => closed.resolve());
    app.websocket(request, socket, head);
  };
  const server = createServer().on("upgrade", upgrade).listen(0, "127.0.0.1");
  cleanup(async () => void server.close());
  await once(server, "listening");
  const url = urlOf(server);
  const { port, hostname } = new URL(url);
  const left = connect(Number(port), hostname).on("error", () => left.destroy());
  const headers = bearer("any");
  left.write(
    `GET /ws HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\nconnection: upgrade\r\n` +
      "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  );
  await asked.promise;
  left.resetAndDestroy();
  await closed.promise;
  verified.resolve();
  // Its own upgrade is decided first: they have waited for the same token since before.
  const { socket } = await SocketClient.connect({ url }, "/ws", headers);
  expect((await refusal({ url }, "/ws", headers)).status).toBe(503);
  socket.terminate();
});

describe("exports", async () => {
  const server = await serveForTest({ trustProxy: 1, limits: { exports: 2 } });
  const conversationId = "shares-export";
  // More than a connection takes without being read.
  const input = "Hello".repeat(600_000);
  for (let n = 0; n < 3; n++) await server.post("/agents/echo/text", { input, options: { conversationId } });
  const path = `/api/conversations/${conversationId}/export`;

  test("that are read to their end, or left, leave their places", async () => {
    for (let n = 0; n < 3; n++) {
      const { status, text } = await server.get(path);
      expect([status, text.split("\n").length]).toEqual([200, 8]);
      expect((await server.send("HEAD", path)).status).toBe(200);
      expect((await server.get("/api/conversations/none/export")).status).toBe(404);
    }
  });

  test("that are not read keep out no client that holds fewer", async () => {
    const { port, hostname } = new URL(server.url);
    const open = async (): Promise<Socket> => {
      const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
      cleanup(async () => void socket.destroy());
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 1.2.3.4\r\n\r\n`);
      await once(socket, "data");
      return socket.pause();
    };
    const [, second] = [await open(), await open()];
    const refused = await server.get(path, from("1.2.3.4"));
    const headers = ["x-error-code", "retry-after"].map((name) => refused.headers.get(name));
    expect([refused.status, ...headers]).toEqual([503, "export-limit", "5"]);
    const cut = once(second, "close");
    expect((await server.get(path, from("5.6.7.8"))).status).toBe(200);
    second.resume();
    await cut;
  });
});

describe("reads", async () => {
  const { promise: opened, resolve: openDoor } = Promise.withResolvers<void>();
  const store = memoryStore();
  let listing = 0;
  const app = createApp({
    workflows: {
      any: createWorkflow({ id: "any", input: z.unknown() }).andThen({ id: "a", execute: () => 1 }),
    },
    store,
    logger: silentLogger,
    trustProxy: 1,
    limits: { reads: 8 },
  });
  cleanup(() => app.close());
  const list = store.list.bind(store);
  store.list = async (query) => {
    listing += 1;
    await opened;
    return list(query);
  };
  const server = createServer(getRequestListener(app.fetch)).listen(0, "127.0.0.1");
  cleanup(async () => void server.close());
  await once(server, "listening");
  const url = urlOf(server);
  const read = (address: string, signal?: AbortSignal) =>
    fetch(`${url}/api/executions`, { headers: from(address), ...(signal && { signal }) });

  const abandoned = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^andante_http_requests_total\{.*executions.*4xx.*\} (\d+)$/m.exec(text)?.[1]);
  };

  test("four run at once, those of clients that are gone are not begun, others take turns", async () => {
    const gone = new AbortController();
    const first = Array.from({ length: 4 }, () => read("1.1.1.1"));
    await expect.poll(() => listing).toBe(4);
    const responses: Response[] = [];
    const left = Array.from({ length: 5 }, () =>
      read("1.1.1.1", gone.signal).then(
        (response) => void responses.push(response),
        () => undefined,
      ),
    );
    await Promise.race(left);
    const headers = ["x-error-code", "retry-after"].map((name) => responses[0]?.headers.get(name));
    expect([responses[0]?.status, ...headers]).toEqual([503, "read-limit", "1"]);
    // One of the four that wait makes room for it.
    const other = read("2.2.2.2");
    await expect.poll(() => responses.map(({ status }) => status)).toEqual([503, 503]);
    gone.abort();
    await Promise.all(left);
    await expect.poll(abandoned).toBe(3);
    openDoor();
    const statuses = (await Promise.all([...first, other])).map(({ status }) => status);
    expect(statuses).toEqual(Array(5).fill(200));
    expect(listing).toBe(5);
  });
});
