// Clients that ask for large responses and read nothing: what waits for them all is bounded, and others are served.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { andThen, createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { afterwards } from "../support/afterwards.ts";
import { recordingLogger } from "../support/recording-logger.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const mebibyte = 1024 * 1024;
const large = createWorkflow({ id: "large", input: z.unknown() }).andAll({
  id: "all",
  steps: [1, 2, 3, 4].map((n) => andThen({ id: `step-${n}`, execute: () => "x".repeat(3.9 * mebibyte) })),
});

test("responses that nobody reads are dropped before they take the memory", {
  timeout: 120_000,
}, async () => {
  const { logger, lines } = recordingLogger();
  const server = await serveForTest({ workflows: { large }, logger });
  const { executionId } = await server.andante.execute("large", null);
  const { port, hostname, host } = new URL(server.url);
  const path = `/workflows/large/executions/${executionId}/state`;
  const sockets: Socket[] = [];
  // 24 of 15 MiB: half as many again as may wait.
  for (let n = 0; n < 24; n++) {
    const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
    afterwards(async () => void socket.destroy());
    await once(socket, "connect");
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    // Its first bytes, then no more.
    await once(socket, "data");
    socket.pause();
    sockets.push(socket);
  }
  await expect
    .poll(() => lines.some(({ msg }) => String(msg).includes("were cut")), { timeout: 5000 })
    .toBe(true);
  expect((await server.get(path)).status).toBe(200);
  // A client that pauses notices that it was cut only when it reads again.
  for (const socket of sockets) socket.resume();
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, "close")));
  const whole = sockets.filter(({ bytesRead }) => bytesRead > 4 * 3.9 * mebibyte);
  expect(whole.length).toBeGreaterThan(0);
  expect(whole.length).toBeLessThan(20);
});
