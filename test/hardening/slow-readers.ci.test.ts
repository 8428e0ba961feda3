// Many clients that read nothing: the data waiting for all of them is bounded, and clients that read are served.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { cleanup } from "../support/cleanup.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { frame, openRaw, write } from "./raw-socket.ts";

const megabyte = 1024 * 1024;
const steps = 5;
/** Each of its events is nearly as large as an output may be: more than a connection takes without being read. */
const large = Array.from({ length: steps }, (_, index) => index).reduce(
  (chain, index) => chain.andThen({ id: `step-${index}`, execute: () => `${index}`.repeat(3.9 * megabyte) }),
  createWorkflow({ id: "large", input: z.unknown() }).andThen({ id: "first", execute: () => "" }),
);

/** Hundreds of megabytes go through the loopback: on a busy machine that takes its time. */
const slowly = { timeout: 90_000 };

test("unread streams are cut once they hold too much; one that reads gets all", slowly, async () => {
  const server = await serveForTest({ workflows: { large } });
  const { executionId } = await server.andante.execute("large", null);
  const { port, hostname, host } = new URL(server.url);
  const path = `/workflows/large/executions/${executionId}/stream`;
  const sockets: Socket[] = [];
  cleanup(async () => sockets.forEach((socket) => void socket.destroy()));
  let cut = 0;
  for (let n = 0; n < 24; n++) {
    const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
    socket.on("close", () => cut++);
    await once(socket, "connect");
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    // Its first bytes, then no more.
    await once(socket, "data");
    socket.pause();
    sockets.push(socket);
  }
  const { text } = await server.get(path);
  expect(text.slice(text.lastIndexOf("data: "))).toContain('"type":"workflow-result"');
  // A client that pauses notices that it was cut only when it reads again.
  for (const socket of sockets) socket.resume();
  await expect.poll(() => cut).toBeGreaterThan(3);
});

test("unread sockets are cut once they hold too much together", slowly, async () => {
  const server = await serveForTest();
  const count = 24;
  const message = frame(JSON.stringify("x".repeat(megabyte - 100)));
  for (let n = 0; n < count; n++) {
    const socket = await openRaw(server.url, "/ws");
    cleanup(async () => void socket.destroy());
    socket.pause();
    // More than the connection and the server keep for one client.
    for (let sent = 0; sent < 12; sent++) void write(socket, message);
  }
  const clients = async () =>
    Number(/^andante_socket_clients (\d+)/m.exec((await server.get("/metrics")).text)?.[1]);
  // The server asked each to close when it held 4 MiB, and would wait for it for half a minute.
  await expect.poll(clients).toBeLessThanOrEqual(64 / 4);
});
