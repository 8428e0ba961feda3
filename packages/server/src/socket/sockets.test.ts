// Upgrades on a listener: which are accepted, which are refused and how, and how connected clients end.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { RecordingLogger } from "@andante/core/test";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { HeldBytes } from "../request/held-bytes.ts";
import { createSockets, type SocketsOptions } from "./sockets.ts";

const hello = '{"type":"CONNECTION_TEST","success":true,"data":{"message":"connected"}}';

/** Sockets whose callers hold a place that `place` describes. */
function socketsFor(fields: Partial<SocketsOptions> = {}, expiresAt?: number) {
  const place: { cut?: () => void; end(): void } = { end: vi.fn() };
  const gauge = vi.fn();
  const take = vi.fn(() => place);
  const logger = new RecordingLogger();
  const andante = { metrics: { gauge }, ready: async () => undefined, closing: false };
  const caller = { user: { sub: "ada" }, userId: "ada", expiresAt };
  const options: SocketsOptions = Object({
    ...{ andante, logger, basePath: "", places: { take }, authorize: undefined },
    gate: { enabled: false, admitSocket: vi.fn(async () => caller) },
    cors: { checkSocket: vi.fn() },
    clientOf: vi.fn(() => "ada's"),
    unfinished: new HeldBytes(64 * 1024 * 1024),
    ...fields,
  });
  const sockets = createSockets(options);
  const clients = () => z.function({ output: z.number() }).parse(gauge.mock.calls[0]?.[2])();
  return { sockets, options, andante, place, take, gauge, clients, logger };
}

async function listen(sockets: ReturnType<typeof createSockets>) {
  const server = createServer().on("upgrade", sockets.upgrade).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return { server, port };
}

/** A client that has read the greeting. */
async function client(port: number, options: object = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, options);
  onTestFinished(() => socket.terminate());
  const [greeting] = await once(socket, "message");
  expect(String(greeting)).toBe(hello);
  return socket;
}

const ending = async (socket: WebSocket) => {
  const [code, reason] = await once(socket, "close");
  return [code, String(reason)];
};

const key = "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==";
const asking = ["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13", key];

/** The whole response to a request in these lines, up to the end of the connection. */
async function responseTo(port: number, ...lines: string[]): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  socket.write([...lines, "host: a", "", ""].join("\r\n"));
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

const refusal = (text: string) => {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [status, ...headers] = head.split("\r\n");
  return { status, headers, body: JSON.parse(body) };
};

test("a client takes a place in its own name, is counted, and leaves both", async () => {
  const checkHost = vi.fn();
  const { sockets, options, gauge, clients, take, place } = socketsFor({ checkHost });
  const { port } = await listen(sockets);
  expect([gauge.mock.calls[0]?.slice(0, 2), clients()]).toEqual([["socket_clients", "WebSocket clients"], 0]);
  const socket = await client(port, { headers: { "x-forwarded-for": "10.0.0.1", host: "here" } });
  expect(clients()).toBe(1);
  expect(checkHost.mock.calls).toEqual([["here"]]);
  expect(vi.mocked(options.cors.checkSocket).mock.calls[0]?.[0].get("x-forwarded-for")).toBe("10.0.0.1");
  const [[request] = []] = vi.mocked(options.gate.admitSocket).mock.calls;
  expect([request?.url, request?.headers.get("host")]).toEqual(["http://socket/ws", "here"]);
  const origin = { address: "127.0.0.1", forwarded: "10.0.0.1" };
  expect(vi.mocked(options.clientOf).mock.calls).toEqual([["ada", origin]]);
  expect(take.mock.calls).toEqual([["ada's", expect.any(Function)]]);
  expect(place.end).not.toHaveBeenCalled();
  socket.close();
  await expect.poll(() => [clients(), vi.mocked(place.end).mock.calls.length]).toEqual([0, 1]);
});

test("a client whose place is taken, and one of a server that shuts down, hear why", async () => {
  const { sockets, place } = socketsFor();
  const { port } = await listen(sockets);
  const first = await client(port);
  place.cut?.();
  expect(await ending(first)).toEqual([1013, "Others need this place"]);
  const second = await client(port);
  sockets.close();
  expect(await ending(second)).toEqual([1001, "The server is shutting down"]);
});

test("a client is closed when its token expires, and not before", async () => {
  const expiring = socketsFor({}, Date.now() + 30);
  const { port } = await listen(expiring.sockets);
  expect(await ending(await client(port))).toEqual([4401, "Token expired"]);
  const lasting = socketsFor({}, Date.now() + 60_000);
  const other = await listen(lasting.sockets);
  const socket = await client(other.port);
  await turn();
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

test("a client that does not complete the closing is cut after a second", async () => {
  const { sockets, clients } = socketsFor();
  const { port } = await listen(sockets);
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(["GET /ws HTTP/1.1", "host: a", ...asking, "", ""].join("\r\n"));
  await expect.poll(() => clients()).toBe(1);
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  sockets.close();
  vi.advanceTimersByTime(999);
  await turn();
  expect(clients()).toBe(1);
  const closed = once(socket.resume(), "close");
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await closed;
  await expect.poll(() => clients()).toBe(0);
});

test("a client is pinged every 30 seconds, and cut when it has not replied by the next time", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { sockets, clients } = socketsFor();
  const { port } = await listen(sockets);
  const silent = await client(port, { autoPong: false });
  const lively = await client(port);
  const pinged = [silent, lively].map((socket) => once(socket, "ping"));
  vi.advanceTimersByTime(29_999);
  for (let each = 0; each < 5; each++) await turn();
  const pings = vi.fn();
  lively.on("ping", pings);
  expect(pings).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  await Promise.all(pinged);
  // Its echo comes after its pong was read.
  lively.send("1");
  await once(lively, "message");
  const ended = ending(silent);
  vi.advanceTimersByTime(30_000);
  expect(await ended).toEqual([1006, ""]);
  await expect.poll(() => clients()).toBe(1);
  lively.send("2");
  await once(lively, "message");
  expect(pings).toHaveBeenCalledTimes(2);
  const others = vi.getTimerCount();
  lively.close();
  await expect.poll(() => vi.getTimerCount()).toBe(others - 1);
});

test("a path that is not ours is refused with the envelope, and the connection closed", async () => {
  const { port } = await listen(socketsFor().sockets);
  const text = await responseTo(port, "GET /ws/none HTTP/1.1", ...asking);
  const { status, headers, body } = refusal(text);
  expect(status).toBe("HTTP/1.1 404 Refused");
  expect(body).toMatchObject({ success: false, error: expect.stringContaining("GET /ws/none") });
  const length = text.length - text.indexOf("\r\n\r\n") - 4;
  expect(headers).toEqual(expect.arrayContaining([`content-length: ${length}`, "connection: close"]));
});

test.each<[string, string[], string, string]>([
  ["an address that cannot be read", ["GET http://[ HTTP/1.1", ...asking], "400", "address or headers"],
  [
    "another version of the protocol",
    ["GET /ws HTTP/1.1", ...asking.slice(0, 2), "sec-websocket-version: 5", key],
    "400",
    "Sec-WebSocket-Version",
  ],
  ["no key", ["GET /ws HTTP/1.1", ...asking.slice(0, 3)], "400", "Sec-WebSocket-Key"],
])("%s is refused", async (_, lines, status, problem) => {
  const { port } = await listen(socketsFor().sockets);
  const response = refusal(await responseTo(port, ...lines));
  expect(response.status).toBe(`HTTP/1.1 ${status} Refused`);
  expect(response.body).toMatchObject({ success: false, error: expect.stringContaining(problem) });
});

test("a server that shuts down refuses, and so do the checks of host and origin", async () => {
  const closing = socketsFor();
  closing.andante.closing = true;
  const ask = async ({ sockets }: ReturnType<typeof socketsFor>) => {
    const { port } = await listen(sockets);
    return refusal(await responseTo(port, "GET /ws HTTP/1.1", ...asking)).status;
  };
  expect(await ask(closing)).toBe("HTTP/1.1 503 Refused");
  expect(closing.take).not.toHaveBeenCalled();
  const refuse = () => {
    throw new Error("not from there");
  };
  expect(await ask(socketsFor({ checkHost: refuse }))).toBe("HTTP/1.1 500 Refused");
  expect(await ask(socketsFor({ cors: Object({ checkSocket: refuse }) }))).toBe("HTTP/1.1 500 Refused");
  expect(await ask(socketsFor({ authorize: async () => false }))).toBe("HTTP/1.1 403 Refused");
});

test("under a base path the sockets are behind it", async () => {
  const { port } = await listen(socketsFor({ basePath: "/andante" }).sockets);
  const response = refusal(await responseTo(port, "GET /ws HTTP/1.1", ...asking));
  expect(response.status).toBe("HTTP/1.1 404 Refused");
  const socket = new WebSocket(`ws://127.0.0.1:${port}/andante/ws`);
  onTestFinished(() => socket.terminate());
  expect(String((await once(socket, "message"))[0])).toBe(hello);
});

test.each(["GET /theirs HTTP/1.1", "GET http://[ HTTP/1.1"])(
  "beside a listener of the host, %s is left to it and ours is served",
  async (line) => {
    const { sockets, options } = socketsFor();
    const { server, port } = await listen(sockets);
    server.on("upgrade", (request, socket) => {
      if (request.url !== "/ws") socket.end("theirs");
    });
    expect(await responseTo(port, line, ...asking)).toBe("theirs");
    expect(options.gate.admitSocket).not.toHaveBeenCalled();
    await client(port);
  },
);

/** An upgrade on a connection without a network. */
function upgradeOn(sockets: ReturnType<typeof createSockets>) {
  const written: string[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk, _, done) => {
      written.push(String(chunk));
      done();
    },
  });
  const request: IncomingMessage = Object({ url: "/ws", headersDistinct: { host: ["a"] }, socket });
  sockets.upgrade(request, socket, Buffer.alloc(0));
  return { socket, written };
}

test("a connection that breaks before the response takes no place and no response", async () => {
  const ready = Promise.withResolvers<undefined>();
  const { sockets, andante, take } = socketsFor();
  andante.ready = () => ready.promise;
  const { socket, written } = upgradeOn(sockets);
  await turn();
  socket.destroy(new Error("broken"));
  ready.resolve(undefined);
  for (let each = 0; each < 5; each++) await turn();
  expect([take.mock.calls, written]).toEqual([[], []]);
});

test("without an address or a header the request is the root's", async () => {
  const { sockets, options } = socketsFor();
  const request: IncomingMessage = Object({ headersDistinct: { host: undefined }, socket: {} });
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _, done) => done() });
  const ended = once(socket, "close");
  sockets.upgrade(request, socket, Buffer.alloc(0));
  await ended;
  const [[admitted] = []] = vi.mocked(options.gate.admitSocket).mock.calls;
  expect([admitted?.url, [...(admitted?.headers ?? [])]]).toEqual(["http://socket/", []]);
});
