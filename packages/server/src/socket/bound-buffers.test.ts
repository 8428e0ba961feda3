// Clients that do not read: their buffers together stay within the bound, and the largest is cut first.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { boundBuffers } from "./bound-buffers.ts";

const megabyte = 1024 * 1024;
let server: WebSocketServer | undefined;
const clients: WebSocket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate();
  for (const client of server?.clients ?? []) client.terminate();
  server?.close();
});

async function serve(maxBytes: number, period = 5): Promise<WebSocketServer> {
  const made = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const buffers = boundBuffers(made.clients, { maxBytes, period });
  made.on("connection", (client) => {
    client.on("error", () => undefined);
    buffers.watch();
  });
  await once(made, "listening");
  server = made;
  return made;
}

/** A client that does not read, and the server's side of its connection. */
async function deafClient(made: WebSocketServer) {
  const { port } = made.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  clients.push(client);
  const connected = once(made, "connection");
  await once(client, "open");
  const [inServer]: WebSocket[] = await connected;
  if (inServer === undefined) throw new Error("not connected");
  client.pause();
  return { client, inServer };
}

/** Buffers this many bytes, beyond the buffers of the connection itself. */
async function fill(socket: WebSocket, bytes: number): Promise<void> {
  for (const piece = Buffer.alloc(megabyte); socket.bufferedAmount < bytes; ) {
    socket.send(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("the one that holds most is cut, and learns why when it reads again; the others stay", async () => {
  const made = await serve(30 * megabyte, 1000);
  const [much, little] = [await deafClient(made), await deafClient(made)];
  await fill(little.inServer, 10 * megabyte);
  await fill(much.inServer, 25 * megabyte);
  await expect.poll(() => much.inServer.readyState).toBe(WebSocket.CLOSING);
  expect(little.inServer.readyState).toBe(WebSocket.OPEN);
  const closed = once(much.client, "close");
  much.client.resume();
  const [code, reason] = await closed;
  expect([code, String(reason)]).toEqual([1013, "Reading too slowly"]);
});

test("one that was cut and never reads is dropped before another client is cut", async () => {
  const made = await serve(30 * megabyte);
  const [first, second] = [await deafClient(made), await deafClient(made)];
  await fill(first.inServer, 40 * megabyte);
  await expect.poll(() => first.inServer.readyState).toBe(WebSocket.CLOSED);
  await fill(second.inServer, 10 * megabyte);
  expect(second.inServer.readyState).toBe(WebSocket.OPEN);
  expect(made.clients.size).toBe(1);
});

test("a hundred that read nothing hold no more than the bound", async () => {
  const made = await serve(20 * megabyte);
  const all: Awaited<ReturnType<typeof deafClient>>[] = [];
  for (let n = 0; n < 100; n++) all.push(await deafClient(made));
  for (const { inServer } of all)
    if (inServer.readyState === WebSocket.OPEN) inServer.send(Buffer.alloc(8 * megabyte));
  const waiting = () => [...made.clients].reduce((total, { bufferedAmount }) => total + bufferedAmount, 0);
  await expect.poll(waiting).toBeLessThanOrEqual(20 * megabyte);
});

/** Checks clients with these unsent bytes; those in `closing` were cut before. Returns which are ended, and how. */
function ended(maxBytes: number | undefined, amounts: readonly number[], closing: readonly number[] = []) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const ends: unknown[][] = [];
  const all = amounts.map(
    (bufferedAmount): WebSocket =>
      Object({
        bufferedAmount,
        readyState: closing.includes(bufferedAmount) ? WebSocket.CLOSING : WebSocket.OPEN,
        OPEN: WebSocket.OPEN,
        close: (...given: unknown[]) => ends.push([bufferedAmount, ...given]),
        terminate: () => ends.push([bufferedAmount, "terminated"]),
      }),
  );
  const clients = new Set(all);
  const buffers = boundBuffers(clients, maxBytes === undefined ? {} : { maxBytes });
  buffers.watch();
  buffers.watch();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(99);
  expect(ends).toEqual([]);
  vi.advanceTimersByTime(1);
  const seen = [...ends];
  clients.clear();
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(0);
  buffers.watch();
  expect(vi.getTimerCount()).toBe(1);
  return seen;
}

const slow = [1013, "Reading too slowly"];

test.each<[string, number | undefined, number[], number[], unknown[][]]>([
  ["as many bytes as the bound end no client", 10, [4, 6], [], []],
  ["one more ends the largest", 10, [4, 7], [], [[7, ...slow]]],
  [
    "as many are cut as are needed, the largest first",
    11,
    [3, 9, 1, 8, 7],
    [],
    [
      [9, ...slow],
      [8, ...slow],
    ],
  ],
  [
    "clients that were cut before go first",
    10,
    [9, 2, 3],
    [2, 3],
    [
      [3, "terminated"],
      [2, "terminated"],
    ],
  ],
  [
    "and then the others",
    10,
    [11, 12, 2, 3],
    [2, 3],
    [
      [3, "terminated"],
      [2, "terminated"],
      [12, ...slow],
      [11, ...slow],
    ],
  ],
  ["none but those are ended where this is enough", 10, [9, 1, 5], [5], [[5, "terminated"]]],
  ["and of those no more than needed", 10, [4, 3, 5], [5, 3], [[5, "terminated"]]],
  ["the bound is 64 MiB", undefined, [64 * megabyte], [], []],
  ["and not a byte more", undefined, [64 * megabyte + 1], [], [[64 * megabyte + 1, ...slow]]],
])("%s", (_, maxBytes, amounts, closing, ends) => {
  expect(ended(maxBytes, amounts, closing)).toEqual(ends);
});
