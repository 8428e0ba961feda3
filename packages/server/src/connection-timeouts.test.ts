// Connections that are idle or too slow to send a request are closed after the configured time.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { memoryStore } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { expect, onTestFinished, test } from "vitest";
import { type ConnectionTimeouts, timeoutsOf } from "./connection-timeouts.ts";
import { serve } from "./serve.ts";

const quiet = new RecordingLogger();

/** Sends the beginning of a request to a server with these timeouts, and reads until the server closes. */
async function untilClosed(timeouts: ConnectionTimeouts, beginning: string) {
  const server = await serve({
    store: memoryStore(),
    port: 0,
    handleSignals: false,
    logger: quiet,
    timeouts,
  });
  onTestFinished(() => server.close());
  const { port, hostname } = new URL(server.url);
  const connection: Socket = connect(Number(port), hostname);
  let received = "";
  connection.setEncoding("utf8").on("data", (text: string) => {
    received += text;
  });
  connection.write(beginning);
  const begun = performance.now();
  await once(connection, "close");
  return { received, milliseconds: performance.now() - begun };
}

test("headers that do not end: 408", async () => {
  const { received } = await untilClosed({ headers: 50 }, "GET / HTTP/1.1\r\nhost: localhost\r\n");
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
});

test("a body that does not end: 408", async () => {
  const head = "POST /api/executions/a/cancel HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{";
  const { received } = await untilClosed({ request: 50 }, head);
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
});

test("a connection between two requests has a keep-alive header, and is closed after that time", async () => {
  const { received, milliseconds } = await untilClosed(
    { keepAlive: 1000 },
    "GET /ready HTTP/1.1\r\nhost: localhost\r\n\r\n",
  );
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
  expect(received.toLowerCase()).toContain("keep-alive: timeout=1\r\n");
  expect(milliseconds).toBeGreaterThan(900);
});

test("the defaults are as documented", () => {
  const { connectionsCheckingInterval, ...timeouts } = timeoutsOf();
  expect(timeouts).toEqual({ keepAliveTimeout: 75_000, headersTimeout: 60_000, requestTimeout: 300_000 });
  expect(connectionsCheckingInterval).toBeLessThanOrEqual(30_000);
});

test("0 is no limit, and a shorter request has shorter headers", () => {
  expect(timeoutsOf({ keepAlive: 0, headers: 0, request: 0 })).toMatchObject({
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
  });
  expect(timeoutsOf({ request: 5000 }).headersTimeout).toBe(5000);
});

test.each<[ConnectionTimeouts, string]>([
  [{ keepAlive: -1 }, "timeouts.keepAlive: expected milliseconds, or 0 for no limit"],
  [{ headers: 1.5 }, "timeouts.headers: expected milliseconds, or 0 for no limit"],
  [{ request: Number.NaN }, "timeouts.request: expected milliseconds, or 0 for no limit"],
  [{ headers: 2000, request: 1000 }, "timeouts.headers: expected at most timeouts.request (1000)"],
])("%o is refused", (timeouts, message) => {
  expect(() => timeoutsOf(timeouts)).toThrow(message);
});
