// A failure of a client's handler closes only that client, with an error code, and the cause is logged.

import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import { createLogger } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { inTime } from "../../../core/test/support/in-time.ts";
import { type ClientHandler, serveClient } from "./serve-client.ts";

/** A client, and the lines of the server that serves it with this handler. */
async function connect(handler: ClientHandler) {
  const lines: unknown[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const logger = createLogger({ level: "error", format: "json", destination: { write } });
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (client) => serveClient(client, handler, logger));
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const closed = new Promise<[number, string]>((resolve) => {
    client.on("close", (code, reason) => resolve([code, reason.toString()]));
  });
  await once(client, "open");
  return { client, closed, lines };
}

const failure = (): never => {
  throw new Error("out of order");
};
const ended = [1011, "The server could not serve this socket"];
const line = {
  level: "error",
  msg: "a WebSocket was closed because serving it failed",
  err: expect.objectContaining({ message: "out of order" }),
};

test("an opening that fails", async () => {
  const { closed, lines } = await connect({ open: failure, message: () => undefined });
  expect(await inTime(closed, "the close")).toEqual(ended);
  expect(lines).toEqual([expect.objectContaining(line)]);
});

test("a message that cannot be worked on, after those that could", async () => {
  const texts: string[] = [];
  const { client, closed, lines } = await connect({
    open: () => undefined,
    message: (_, text) => (text === "bad" ? failure() : texts.push(text)),
  });
  client.send("good");
  client.send("bad");
  client.send("late");
  expect(await inTime(closed, "the close")).toEqual(ended);
  expect(texts).toEqual(["good"]);
  expect(lines).toEqual([expect.objectContaining(line)]);
});

test("a client's events reach its handler, messages only while it is open; its errors are logged", () => {
  const logger = new RecordingLogger();
  const socket = Object.assign(new EventEmitter(), { OPEN: 1, readyState: 1, close: vi.fn() });
  const client: WebSocket = Object([socket])[0];
  const handler = { open: vi.fn(), message: vi.fn(), close: vi.fn() };
  serveClient(client, handler, logger);
  expect(handler.open.mock.calls).toEqual([[client]]);
  socket.emit("message", Buffer.from("one"));
  socket.readyState = 2;
  socket.emit("message", Buffer.from("two"));
  expect(handler.message.mock.calls).toEqual([[client, "one"]]);
  const err = new Error("invalid frame");
  socket.emit("error", err);
  socket.emit("close");
  expect(handler.close.mock.calls).toEqual([[client]]);
  expect(logger.lines).toEqual([{ level: "debug", msg: "a WebSocket was closed after a client error", err }]);
  const { close: _, ...without } = handler;
  serveClient(client, without, logger);
  socket.emit("close");
  expect(socket.close).not.toHaveBeenCalled();
});

test("a message with too many different fields is refused before it is parsed, one with as many as allowed is not", async () => {
  const lengths: number[] = [];
  const { client, closed, lines } = await connect({
    open: () => undefined,
    message: (_, text) => lengths.push(text.length),
  });
  const message = (fields: number) => `{${Array.from({ length: fields }, (_, n) => `"${n}":1`)}}`;
  client.send(message(13_107));
  client.send(message(13_108));
  expect(await inTime(closed, "the close")).toEqual([1009, "The message is too complex"]);
  expect(lengths).toEqual([message(13_107).length]);
  expect(lines).toEqual([]);
});
