// A client whose sends fail, in a timer or in a logging call: only this client is closed.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAndante, createLogger, memoryStore } from "@andante/core";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { inTime } from "../../../core/test/support/in-time.ts";
import { Permission } from "../auth/permission.ts";
import { serveClient } from "./serve-client.ts";
import { socketPaths } from "./socket-paths.ts";

const nobody = { user: undefined, userId: undefined };

test.each(["/ws/logs", "/ws/observability"])("at %s", async (wanted) => {
  const lines: string[] = [];
  const logger = createLogger({
    level: "error",
    format: "json",
    destination: { write: (line) => lines.push(line) },
  });
  const andante = createAndante({ store: memoryStore(), logger });
  await andante.ready();
  const path = socketPaths(andante).find(({ path }) => path === wanted);
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  onTestFinished(async () => {
    server.close();
    await andante.close();
  });
  await once(server, "listening");
  const connect = async () => {
    const handler = await path?.prepare(
      new URLSearchParams(),
      new Permission(undefined, false, nobody, path),
    );
    if (handler === undefined) throw new Error(`nothing is served at ${wanted}`);
    const serving = Promise.withResolvers<WebSocket>();
    server.once("connection", (socket) => {
      serveClient(socket, handler, logger);
      serving.resolve(socket);
    });
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const closed = new Promise<number>((resolve) => void client.on("close", resolve));
    return { client, closed, socket: await serving.promise };
  };
  const first = await connect();
  const second = await connect();
  const update = new Promise<string>((resolve) => {
    second.client.on("message", (raw) => {
      if (raw.toString().includes("for everyone")) resolve(raw.toString());
    });
  });
  first.socket.send = () => {
    throw new Error("out of order");
  };
  andante.logger.error({}, "for everyone");
  expect(await inTime(first.closed, "the close")).toBe(1011);
  expect(await inTime(update, "the line")).toContain("for everyone");
  expect(second.client.readyState).toBe(WebSocket.OPEN);
  expect(lines.join("")).toContain("a WebSocket was closed because serving it failed");
  second.client.terminate();
});
