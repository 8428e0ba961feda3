// A client that leaves in the middle of its request's body has made a mistake of its own, and none of the server's.
import { once } from "node:events";
import { connect } from "node:net";
import { Writable } from "node:stream";
import { createLogger } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { serveForTest } from "../support/serve-for-test.ts";

const lineSchema = z.looseObject({ level: z.string(), msg: z.string(), status: z.number().optional() });

test.each([
  ["content-length: 100", '{"input":'],
  ["transfer-encoding: chunked", '9\r\n{"input":\r\n'],
  ["transfer-encoding: chunked", "9\r\n{"],
])("%s, and %j of it", async (header, part) => {
  const lines: z.infer<typeof lineSchema>[] = [];
  const destination = new Writable({
    write(chunk, _, done) {
      for (const line of String(chunk).trim().split("\n")) lines.push(lineSchema.parse(JSON.parse(line)));
      done();
    },
  });
  const logger = createLogger({ level: "debug", format: "json", destination });
  const server = await serveForTest({ logger });
  const { port, hostname } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const head = ["POST /workflows/sum/execute HTTP/1.1", "host: a", "content-type: application/json", header];
  socket.write(`${head.join("\r\n")}\r\n\r\n${part}`);
  await once(socket, "connect");
  socket.resetAndDestroy();
  const requests = () => lines.filter(({ msg }) => msg === "request");
  await expect.poll(requests).toMatchObject([{ status: 400 }]);
  expect(lines.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
});

test("a client learns that its body is too large while it still sends it", async () => {
  const server = await serveForTest({ limits: { body: 100_000 } });
  const { port, hostname } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const head = ["POST /workflows/sum/execute HTTP/1.1", "host: a", "content-type: application/json"];
  const chunk = `${(200_000).toString(16)}\r\n${" ".repeat(200_000)}\r\n`;
  socket.write(`${head.join("\r\n")}\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`);
  const [response] = await once(socket, "data");
  expect(String(response)).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
});
