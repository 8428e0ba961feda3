// Clients that read nothing of a large response, or stop in a large body: the memory held for all of them is bounded.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { andThen, createWorkflow } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import type { ServeOptions } from "@andante/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { cleanup } from "../support/cleanup.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { provider } from "../support/tokens.ts";

const mebibyte = 1024 * 1024;
const large = createWorkflow({ id: "large", input: z.unknown() }).andAll({
  id: "all",
  steps: [1, 2, 3, 4].map((n) => andThen({ id: `step-${n}`, execute: () => "x".repeat(3.9 * mebibyte) })),
});

test("unread responses are dropped before they take the memory", async () => {
  const logger = new RecordingLogger();
  const server = await serveForTest({ workflows: { large }, logger });
  const { executionId } = await server.andante.execute("large", null);
  const { port, hostname, host } = new URL(server.url);
  const path = `/workflows/large/executions/${executionId}/state`;
  const sockets: Socket[] = [];
  // 24 of 15 MiB: half as many again as may wait.
  for (let n = 0; n < 24; n++) {
    const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
    cleanup(async () => void socket.destroy());
    await once(socket, "connect");
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    // Its first bytes, then no more.
    await once(socket, "data");
    socket.pause();
    sockets.push(socket);
  }
  await expect.poll(() => logger.lines.some(({ msg }) => String(msg).includes("were closed"))).toBe(true);
  expect((await server.get(path)).status).toBe(200);
  // A client that pauses notices that it was cut only when it reads again.
  for (const socket of sockets) socket.resume();
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, "close")));
  const whole = sockets.filter(({ bytesRead }) => bytesRead > 4 * 3.9 * mebibyte);
  expect(whole.length).toBeGreaterThan(0);
  expect(whole.length).toBeLessThan(20);
});

const resume = "/workflows/approval/executions/none/resume";

test.each([
  ["a built-in route", resume, "length"],
  ["a route of the host's own", "/own", "length"],
  ["a route of the host's own", "/own", "chunks"],
  ["no route", "/nowhere", "chunks"],
])("stalled bodies to %s are dropped before they take the memory: %s, in %s", async (_, path, how) => {
  const configureApp: ServeOptions["configureApp"] = (app) =>
    app.post("/own", async (http) => http.text(await http.req.text()));
  const server = await serveForTest({ auth: provider(), configureApp });
  const { port, hostname, host } = new URL(server.url);
  const part = Buffer.alloc(4_000_000, " ");
  let closed = 0;
  // 80 of 4 MB: a fifth more than may be held.
  for (let n = 0; n < 80; n++) {
    const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
    socket.on("close", () => closed++).resume();
    cleanup(async () => void socket.destroy());
    await once(socket, "connect");
    const size = how === "length" ? `content-length: ${part.length + 1}` : "transfer-encoding: chunked";
    const head = [`POST ${path} HTTP/1.1`, `host: ${host}`, "content-type: application/json", size];
    socket.write([...head, "", ""].join("\r\n"));
    if (how === "chunks") socket.write(`${(part.length + 1).toString(16)}\r\n`);
    socket.write(part);
  }
  await expect.poll(() => closed, { timeout: 60_000 }).toBeGreaterThan(5);
  expect((await server.get("/workflows")).status).toBe(200);
});
