// Without middleware a request is read from Node's request: the result is the same however its bytes arrive.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createWorkflow, memoryStore } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import type { MiddlewareHandler } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createApp } from "../app.ts";
import type { CustomApp } from "../app-options.ts";
import type { AuthProvider } from "../auth/provider.ts";
import { serve } from "../serve.ts";

const quiet = new RecordingLogger();
const echo = createWorkflow({ id: "echo", input: z.unknown() }).andThen({
  id: "same",
  execute: ({ data }) => data,
});

interface Host {
  readonly middleware?: readonly MiddlewareHandler[];
  readonly auth?: AuthProvider;
  readonly configureApp?: (app: CustomApp) => void;
}

/** A connection to an echo server. */
async function connected(host: Host = {}) {
  const common = { store: memoryStore(), port: 0, handleSignals: false, logger: quiet };
  const server = await serve({ workflows: { echo }, ...common, ...host });
  onTestFinished(() => server.close());
  const { port, hostname } = new URL(server.url);
  const connection: Socket = connect(Number(port), hostname);
  onTestFinished(() => void connection.destroy());
  await once(connection, "connect");
  let received = "";
  connection.setEncoding("utf8").on("data", (text: string) => {
    received += text;
  });
  /** The statuses and results so far, once there are this many. */
  const responses = async (count: number) => {
    for (;;) {
      const found = readResponses(received);
      if (found.length >= count) return found;
      await once(connection, "data");
    }
  };
  return { connection, responses, andante: server.andante };
}

/** The complete responses. */
function readResponses(text: string) {
  const found = [];
  let rest = Buffer.from(text);
  for (;;) {
    const head = rest.indexOf("\r\n\r\n") + 4;
    if (head === 3) return found;
    const headers = rest.subarray(0, head).toString().toLowerCase();
    const end = head + Number(/content-length: (\d+)/.exec(headers)?.[1]);
    if (!(rest.length >= end)) return found;
    const { data, error } = JSON.parse(rest.subarray(head, end).toString());
    found.push({ status: Number(headers.slice(9, 12)), result: data?.result, error });
    rest = rest.subarray(end);
  }
}

function headOf(length: number, further = "", path = "/workflows/echo/execute"): string {
  const type = further.includes("content-type") ? "" : "content-type: application/json\r\n";
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${type}content-length: ${length}\r\n${further}\r\n`;
}

const body = JSON.stringify({ input: "g\u00fcnther \u{1f600}" });
const length = Buffer.byteLength(body);
const good = { status: 200, result: "g\u00fcnther \u{1f600}", error: undefined };

/** Writes the parts of a request, each in a separate packet. */
async function send(connection: Socket, parts: readonly (string | Uint8Array)[]): Promise<void> {
  connection.setNoDelay(true);
  for (const part of parts) {
    await new Promise((resolve) => connection.write(part, resolve));
    // By then the server, in the same thread, has read the part.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const bytes = Buffer.from(body);
const parts: Record<string, readonly (string | Uint8Array)[]> = {
  "in one packet": [headOf(length) + body],
  "the body after the headers": [headOf(length), body],
  "the body in two, a letter cut apart": [
    Buffer.concat([Buffer.from(headOf(length)), bytes.subarray(0, 12)]),
    bytes.subarray(12),
  ],
  "byte by byte": [headOf(length), ...Array.from(bytes, (byte) => Uint8Array.of(byte))],
  "in chunks, of no given length": [
    headOf(0).replace("content-length: 0", "transfer-encoding: chunked"),
    `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ],
  "with a byte order mark": [`${headOf(length + 3)}\ufeff${body}`],
};

test.each(Object.entries(parts))("a body that comes %s", async (_, packets) => {
  const { connection, responses } = await connected();
  await send(connection, packets);
  expect(await responses(1)).toEqual([good]);
  // The connection accepts another request.
  await send(connection, [headOf(length) + body]);
  expect(await responses(2)).toEqual([good, good]);
});

test("many requests in one packet, and one without a body among them", async () => {
  const { connection, responses } = await connected();
  const whole = headOf(length) + body;
  await send(connection, [whole + headOf(0) + whole + whole]);
  const empty = { status: 400, result: undefined, error: "The request needs a JSON body" };
  expect(await responses(4)).toEqual([good, empty, good, good]);
});

test("a body that ends too early is not taken for the whole", async () => {
  const { connection, andante } = await connected();
  await send(connection, [headOf(length + 1) + body]);
  connection.end();
  await once(connection, "close");
  expect((await andante.list()).executions).toEqual([]);
});

test("the type of the body is that of the header, in any spelling", async () => {
  const { connection, responses } = await connected();
  await send(connection, [headOf(length, "content-type: text/plain\r\n") + body]);
  await send(connection, [
    headOf(length, "Content-TYPE: application/json; charset=utf-8\r\n").replace(/content-type: .*?\r\n/, "") +
      body,
  ]);
  expect((await responses(2)).map(({ status }) => status)).toEqual([415, 200]);
});

test("two types of a body are none, whichever comes first", async () => {
  const { connection, responses } = await connected();
  const twice = (first: string, second: string) => `content-type: ${first}\r\nContent-Type: ${second}\r\n`;
  await send(connection, [headOf(length, twice("application/json", "text/plain")) + body]);
  await send(connection, [headOf(length, twice("text/plain", "application/json")) + body]);
  expect((await responses(2)).map(({ status }) => status)).toEqual([415, 415]);
});

test("middleware of the host may read the body, and change the headers", async () => {
  const seen: string[] = [];
  const middleware: MiddlewareHandler = async (http, next) => {
    seen.push(await http.req.text());
    http.req.raw.headers.set("content-type", "application/json");
    await next();
    seen.push(await http.req.text());
  };
  const { connection, responses } = await connected({ middleware: [middleware] });
  await send(connection, [headOf(length, "content-type: text/plain\r\n") + body]);
  expect(await responses(1)).toEqual([good]);
  expect(seen).toEqual([body, body]);
});

test("a service within the host's routes goes by the request that the host hands on", async () => {
  const retype: MiddlewareHandler = async (http, next) => {
    http.req.raw.headers.set("content-type", "application/json");
    await next();
  };
  const within = { workflows: { echo }, logger: quiet };
  const behindRoutes = createApp({ ...within, store: memoryStore(), basePath: "/behind" });
  const withMiddleware = createApp({
    ...within,
    store: memoryStore(),
    basePath: "/with",
    middleware: [retype],
  });
  onTestFinished(() => behindRoutes.close());
  onTestFinished(() => withMiddleware.close());
  const { connection, responses } = await connected({
    configureApp: (app) => {
      app.use("/behind/*", retype);
      app.route("/behind", behindRoutes.app);
      app.route("/with", withMiddleware.app);
    },
  });
  for (const place of ["/behind", "/with"]) {
    const head = headOf(length, "content-type: text/plain\r\n", `${place}/workflows/echo/execute`);
    await send(connection, [head + body]);
  }
  expect(await responses(2)).toEqual([good, good]);
});

test("an authentication provider may read a copy of the request", async () => {
  const signed: string[] = [];
  const auth: AuthProvider = {
    type: "signature",
    extractToken: () => "token",
    verifyToken: async (_token, request) => {
      signed.push((await request?.clone().text()) ?? "");
      return { id: "ada" };
    },
  };
  const { connection, responses } = await connected({ auth });
  await send(connection, [headOf(length) + body]);
  expect(await responses(1)).toEqual([good]);
  expect(signed).toEqual([body]);
});
