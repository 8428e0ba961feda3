// Lines that cannot be read to their end: the client sees that they are not all, and nobody reads the reason but the log.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { expect, onTestFinished, test, vi } from "vitest";
import { LineRecorder } from "../../../core/test/support/line-recorder.ts";
import { jsonLines } from "./json-lines.ts";

async function* broken() {
  yield { n: 1 };
  throw new Error("the secret reason");
}

function appWith(logger: LineRecorder): Hono {
  return new Hono().get("/", (http) => jsonLines(broken(), { http, logger }).toResponse());
}

test("the connection breaks, and the reason is logged alone", async () => {
  const logger = new LineRecorder();
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

test("without a listener of Node whoever reads it gets the error", async () => {
  const response = await appWith(new LineRecorder()).request("/");
  await expect(response.text()).rejects.toThrow("the secret reason");
});
