// Lines that cannot be read to their end: the client sees a truncated response, and the reason is only in the log.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { RecordingLogger } from "@andante/core/test";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { expect, onTestFinished, test, vi } from "vitest";
import { Reads } from "../request/reads.ts";
import { jsonLines } from "./json-lines.ts";

const bounds = { exportPages: new Reads({ limit: 10, share: 1, atOnce: 1 }) };

async function* broken() {
  yield { n: 1 };
  throw new Error("the secret reason");
}

function appWith(logger: RecordingLogger): Hono {
  return new Hono().get("/", (http) => jsonLines(broken(), { http, logger, bounds }).toResponse());
}

test("the connection breaks, and the reason is logged alone", async () => {
  const logger = new RecordingLogger();
  const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const server = createServer(getRequestListener(appWith(logger).fetch)).listen(0, "127.0.0.1");
  onTestFinished(() => {
    complaints.mockRestore();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const read = async () => (await fetch(`http://127.0.0.1:${port}/`)).text();
  await expect(read()).rejects.toThrow();
  expect(logger.of("warn")).toMatchObject([{ err: { message: "the secret reason" } }]);
  expect(complaints).not.toHaveBeenCalled();
});

test("without a listener of Node the reader gets the error", async () => {
  const response = await appWith(new RecordingLogger()).request("/");
  await expect(response.text()).rejects.toThrow("the secret reason");
});

/** Endless lines, and a promise that resolves when their reader stops. */
function endless() {
  const left = Promise.withResolvers<void>();
  async function* lines() {
    try {
      for (;;) yield "x".repeat(1024 * 1024);
    } finally {
      left.resolve();
    }
  }
  return { lines: lines(), left: left.promise };
}

test.each([
  ["a client that is gone", true, 60_000],
  ["a client that does not read for too long", false, 200],
])("%s ends the reading and leaves its place", async (_, leaves, patience) => {
  const { lines, left } = endless();
  const stream = { waits: vi.fn(), end: vi.fn() };
  const logger = new RecordingLogger();
  const app = new Hono().get("/", (http) =>
    jsonLines(lines, { http, logger, bounds, stream }, patience).toResponse(),
  );
  const server = createServer(getRequestListener(app.fetch)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(socket, "data");
  socket.pause();
  if (leaves) socket.destroy();
  await left;
  expect(stream.end).toHaveBeenCalled();
  expect(stream.waits).toHaveBeenCalledWith(1024 * 1024 + 3);
});

test("a client that is gone before the response leaves its place", async () => {
  const { lines } = endless();
  const stream = { waits: vi.fn(), end: vi.fn() };
  const app = new Hono().get("/", (http) =>
    jsonLines(lines, { http, logger: new RecordingLogger(), bounds, stream }).toResponse(),
  );
  await app.request("/", { signal: AbortSignal.abort() });
  expect(stream.end).toHaveBeenCalled();
});
