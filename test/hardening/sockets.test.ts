// A message over a socket ends at most its own client: the process lives and serves the others.
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../packages/core/test/support/random.ts";
import { rawRequest } from "../support/raw-request.ts";
import { call } from "../support/responses.ts";
import { SocketClient } from "../support/socket-client.ts";
import { frame, openRaw, write } from "./raw-socket.ts";
import { serveInProcess } from "./served-process.ts";

const seed = Number(process.env.FUZZ_SEED ?? 1);
const megabyte = 1024 * 1024;
const nested = (depth: number, open = "[", close = "]") => open.repeat(depth) + close.repeat(depth);
const times = (count: number, bytes: Buffer) => Buffer.concat(Array<Buffer>(count).fill(bytes));
const changeFilter = frame('{"type":"updateFilter","filter":{"level":"error","limit":1}}');

const attacks: Readonly<Record<string, Buffer>> = {
  "5 000 nested arrays": frame(nested(5_000)),
  "500 000 nested arrays": frame(nested(500_000)),
  "100 000 nested objects": frame(`${nested(100_000, '{"a":', "")}1${nested(100_000, "", "}")}`),
  "a filter of nested arrays": frame(`{"type":"updateFilter","filter":{"level":${nested(5_000)}}}`),
  "a nested type": frame(`{"type":${nested(5_000)}}`),
  "the key __proto__": frame('{"__proto__":{"type":"PING"},"type":"updateFilter","filter":{"__proto__":1}}'),
  "a megabyte of text": frame("x".repeat(megabyte)),
  "a megabyte of digits": frame("9".repeat(megabyte)),
  "more than a megabyte": frame("x".repeat(megabyte + 1)),
  "a claim of 2⁵³ bytes": frame("x", { length: Number.MAX_SAFE_INTEGER }),
  binary: frame(randomBytes(1000), { opcode: 2 }),
  "binary that is JSON": frame("[1]", { opcode: 2 }),
  "bytes that are not UTF-8": frame(Buffer.from([0xff, 0xc0, 0x80])),
  "half a surrogate": frame('"\\ud800"'),
  nothing: frame(""),
  "half a frame": frame("x".repeat(1000)).subarray(0, 500),
  "the head of a frame": frame("x".repeat(1000)).subarray(0, 3),
  "a frame without a mask": frame("x", { masked: false }),
  "reserved bits": frame("x", { reserved: 7 }),
  "a reserved opcode": frame("x", { opcode: 5 }),
  "a continuation of nothing": frame("x", { opcode: 0 }),
  "a message inside another": Buffer.concat([frame("a", { final: false }), frame("b")]),
  "fragments without end": Buffer.concat([
    frame("a", { final: false }),
    times(50_000, frame("b", { opcode: 0, final: false })),
  ]),
  "a ping of 200 bytes": frame("x".repeat(200), { opcode: 9 }),
  "a close with a forbidden code": frame(Buffer.from([0x03, 0xed]), { opcode: 8 }),
  "a close of one byte": frame("x", { opcode: 8 }),
  "5 000 pings": times(5_000, frame("", { opcode: 9 })),
  "5 000 messages": times(5_000, frame("[1]")),
  "5 000 filters": times(5_000, changeFilter),
  "5 000 bad filters": times(5_000, frame('{"type":"updateFilter","filter":{"level":1}}')),
};

const paths = ["/ws", "/ws/logs", "/ws/observability"];

describe.each(paths)("%s", async (path) => {
  const server = await serveInProcess();
  const calm = await SocketClient.connect(server, "/ws");
  await calm.next();

  const stillServes = async (what: string) => {
    calm.send({ what });
    expect(await calm.next(), server.errors()).toEqual({ type: "ECHO", success: true, data: { what } });
    expect((await call(`${server.url}/workflows`)).status).toBe(200);
    expect(server.errors(), what).not.toMatch(/Uncaught|Unhandled|unexpectedly|Node\.js v/);
    expect(server.ended(), what).toBeUndefined();
  };
  const leave = (socket: Socket) => (socket.destroyed ? undefined : socket.resetAndDestroy());

  test.each(Object.entries(attacks))("%s", async (what, bytes) => {
    const [reads, deaf] = [await openRaw(server.url, path), await openRaw(server.url, path)];
    reads.resume();
    deaf.pause();
    await Promise.all([write(reads, bytes), write(deaf, bytes)]);
    await stillServes(what);
    // One leaves in good order, the other in the middle of it.
    reads.end();
    leave(deaf);
    await stillServes(`${what}, left`);
  });

  test(`random frames (seed ${seed})`, async () => {
    const random = createRandom(seed);
    const texts = ["", "PING", '{"type":"PING"}', nested(3_000), "{", '{"type":"updateFilter","filter":{}}'];
    const one = () => {
      const text = random.pick(texts) ?? "";
      return frame(random.chance(0.7) ? text : randomBytes(random.integer(0, 300)), {
        opcode: random.chance(0.7) ? 1 : random.integer(0, 15),
        final: random.chance(0.9),
        reserved: random.chance(0.95) ? 0 : random.integer(0, 7),
        masked: random.chance(0.95),
      });
    };
    for (let session = 0; session < 100; session += 1) {
      const socket = await openRaw(server.url, path);
      socket.resume();
      const bytes = Buffer.concat(Array.from({ length: random.integer(1, 8) }, one));
      const end = random.chance(0.3) ? random.integer(0, bytes.length) : bytes.length;
      await write(socket, bytes.subarray(0, end));
      if (random.chance(0.5)) socket.end();
      else leave(socket);
    }
    await stillServes("random frames");
  });
});

describe("upgrades", async () => {
  const server = await serveInProcess();
  const asks = ["connection: upgrade", "upgrade: websocket"];
  const key = ["sec-websocket-version: 13", "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=="];

  test.each([
    ["without a key", ["GET /ws", ...asks], 400],
    ["of another version", ["GET /ws", ...asks, "sec-websocket-version: 99", key[1] ?? ""], 400],
    ["by POST", ["POST /ws", ...asks, ...key], 400],
    ["to another protocol", ["GET /ws", "connection: upgrade", "upgrade: h2c"], 400],
    ["of an address that cannot be parsed", ["GET //", ...asks, ...key], 400],
    ["of an absolute address that cannot be parsed", ["GET http://[", ...asks, ...key], 400],
    ["with a user in the address", ["GET http://a:b@c/ws", ...asks, ...key], 400],
    ["with broken escapes", ["GET /ws/logs?level=%ff%zz", ...asks, ...key], 400],
    ["with a bad filter", ["GET /ws/logs?limit=-1", ...asks, ...key], 400],
    ["of a path with traps", ["GET /ws/__proto__", ...asks, ...key], 404],
  ])("%s", async (_, lines, status) => {
    const before = server.errors();
    const response = await rawRequest(server.url, lines);
    expect([response.status, server.errors()]).toEqual([status, before]);
    expect(JSON.parse(response.body)).toEqual({ success: false, error: expect.any(String) });
    expect(server.ended()).toBeUndefined();
  });
});

test("unfinished messages of all clients are bounded together, and a whole message is received beside them", async () => {
  const server = await serveInProcess();
  const half = frame("x".repeat(megabyte), { final: false });
  const sockets = await Promise.all(Array.from({ length: 80 }, () => openRaw(server.url, "/ws")));
  const open = () => sockets.filter((socket) => !socket.destroyed).length;
  for (const socket of sockets) socket.resume().on("close", () => socket.destroy());
  await Promise.all(sockets.slice(0, 60).map((socket) => write(socket, half)));
  const calm = await SocketClient.connect(server, "/ws");
  await calm.next();
  calm.socket.send(JSON.stringify("y".repeat(megabyte - 2)));
  expect(await calm.next()).toMatchObject({ type: "ECHO" });
  expect(open()).toBe(80);
  await Promise.all(sockets.slice(60).map((socket) => write(socket, half)));
  await expect.poll(open).toBeLessThan(65);
  calm.socket.send(JSON.stringify("y".repeat(megabyte - 2)));
  expect(await calm.next()).toMatchObject({ type: "ECHO" });
  expect(open()).toBeGreaterThan(50);
  for (const socket of sockets) socket.destroy();
});
