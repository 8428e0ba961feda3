// A connection to an MCP server over HTTP: its requests, its tools, and the failures that end it.
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { connect } from "./connect.ts";
import { checkServer } from "./mcp-server.ts";
import { remoteCalls } from "./remote-calls.ts";

const message = z.object({
  id: z.number().optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});
type Message = z.infer<typeof message>;
interface Heard extends Partial<Message> {
  readonly verb: string;
  readonly headers: Headers;
}
type Respond = (message: Message) => Response | object | undefined;

const url = "http://sums.example/mcp";
const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const pages: Readonly<Record<string, object>> = {
  "": { tools: [tool("add"), tool("sum")], nextCursor: "two" },
  two: { tools: [tool("more")], nextCursor: "three" },
  three: { tools: [tool("last")] },
};
const info = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "s", version: "1" },
};

let heard: Heard[] = [];
beforeEach(() => {
  heard = [];
});

/** Serves the protocol in place of the network; `respond` may reply to a message in its own way. */
function serve(respond: Respond = () => undefined): void {
  const { fetch } = globalThis;
  onTestFinished(() => {
    globalThis.fetch = fetch;
  });
  globalThis.fetch = async (input, init) => {
    expect(String(input)).toBe(url);
    const verb = init?.method ?? "";
    const headers = new Headers(init?.headers);
    if (verb !== "POST") {
      heard.push({ verb, headers });
      return new Response(null, { status: 405 });
    }
    const read = message.parse(JSON.parse(String(init?.body)));
    heard.push({ verb, headers, ...read });
    const own = respond(read);
    if (own instanceof Response) return own;
    if (read.id === undefined) return new Response(null, { status: 202 });
    return json(read, own ?? resultOf(read));
  };
}

function resultOf({ method, params }: Message): object {
  if (method === "initialize") return { result: info };
  if (method === "tools/list") return { result: pages[String(params?.cursor ?? "")] };
  if (method === "tools/call") return { result: { content: [{ type: "text", text: "5" }] } };
  return { error: { code: -32601, message: "unknown" } };
}

const session = { "mcp-session-id": "session" };
const json = ({ id }: Message, reply: object) =>
  Response.json({ jsonrpc: "2.0", id, ...reply }, { headers: session });

async function connected(settings: { headers?: Record<string, string>; connectTimeout?: number } = {}) {
  const connection = await connect(checkServer("sums", { url, ...settings }));
  onTestFinished(() => connection.close());
  const call = async (abortSignal?: AbortSignal) =>
    connection.tools.add?.execute?.(
      {},
      { toolCallId: "c", messages: [], context: {}, ...(abortSignal && { abortSignal }) },
    );
  return { connection, call };
}

test("the tools of every page, asked for with the host's headers and our name", async () => {
  serve();
  const { connection, call } = await connected({ headers: { authorization: "Bearer t" } });
  expect(Object.keys(connection.tools)).toEqual(["add", "sum", "more", "last"]);
  const asked = heard.filter(({ method }) => method === "tools/list");
  expect(asked.map(({ params }) => params?.cursor)).toEqual([undefined, "two", "three"]);
  expect(asked[0]?.params).not.toHaveProperty("cursor");
  expect(heard.map(({ headers }) => headers.get("authorization"))).toEqual(heard.map(() => "Bearer t"));
  expect(heard.find(({ method }) => method === "initialize")?.params).toMatchObject({
    clientInfo: { name: "andante" },
  });
  expect(await call()).toMatchObject({ content: [{ text: "5" }] });
  expect([connection.lost.aborted, connection.isForgotten]).toEqual([false, false]);
});

test("a server without an end of its tools is refused", async () => {
  serve(({ method }) =>
    method === "tools/list" ? { result: { tools: [tool("add")], nextCursor: "again" } } : undefined,
  );
  await expect(connected()).rejects.toThrow("more than 100 pages of tools");
  expect(heard.filter(({ method }) => method === "tools/list")).toHaveLength(100);
});

test("a response without an end is cut off", async () => {
  let sent = 0;
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        sent += 1024 * 1024;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
    });
  const headers = { ...session, "content-type": "application/json" };
  serve(({ method }) => (method === "tools/call" ? new Response(endless(), { headers }) : undefined));
  const { connection, call } = await connected();
  await expect(call()).rejects.toThrow("the server responded with more than 33554432 bytes");
  expect(connection.lost.aborted).toBe(true);
  const ask = remoteCalls(url, {}, globalThis.fetch);
  await expect(ask("tools/call", {}, AbortSignal.timeout(60_000))).rejects.toThrow("more than 33554432");
  expect(sent).toBeLessThan(100 * 1024 * 1024);
});

test("closing ends the session at the server", async () => {
  serve();
  const { connection } = await connected();
  await connection.close();
  const last = heard.at(-1);
  expect([last?.verb, last?.headers.get("mcp-session-id")]).toEqual(["DELETE", "session"]);
});

test("a server whose tools cannot be read is refused, and its session ended", async () => {
  serve(({ method }) =>
    method === "tools/list" ? { error: { code: -32603, message: "out of order" } } : undefined,
  );
  await expect(connected()).rejects.toThrow("out of order");
  expect(heard.at(-1)?.verb).toBe("DELETE");
});

test.each(["initialize", "tools/list"])("%s has the time for connecting", async (slow) => {
  serve(({ method }) => {
    if (method !== slow) return undefined;
    return new Response(new ReadableStream(), {
      headers: { ...session, "content-type": "text/event-stream" },
    });
  });
  await expect(connected({ connectTimeout: 30 })).rejects.toThrow();
});

const called = (response: () => Response) =>
  serve(({ method }) => (method === "tools/call" ? response() : undefined));

test.each([
  [404, true],
  [400, true],
  [403, false],
  [500, false],
])("a call refused with %i: whether the session is forgotten is %s", async (status, isForgotten) => {
  called(() => new Response("refused", { status }));
  const { connection, call } = await connected();
  await expect(call()).rejects.toThrow(`HTTP ${status}`);
  expect([connection.isForgotten, connection.lost.aborted]).toEqual([isForgotten, false]);
});

test("a response without a session does not mean that the session was lost", async () => {
  serve(({ method, ...rest }) => {
    if (method === "tools/call") return new Response("refused", { status: 404 });
    const reply = Response.json({ jsonrpc: "2.0", id: rest.id, ...resultOf({ method, ...rest }) });
    return rest.id === undefined ? undefined : reply;
  });
  const { connection, call } = await connected();
  await expect(call()).rejects.toThrow("HTTP 404");
  expect(connection.isForgotten).toBe(false);
});

/** A response that is cut off when `cut` is called. */
function held() {
  const reading = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController | undefined;
  const cancel = vi.fn();
  const body = new ReadableStream(
    {
      start: (given) => {
        controller = given;
      },
      pull: () => reading.resolve(),
      cancel,
    },
    { highWaterMark: 0 },
  );
  const response = () => new Response(body, { headers: { ...session, "content-type": "text/event-stream" } });
  return { response, reading: reading.promise, cut: (error: Error) => controller?.error(error), cancel };
}

test("a response that is cut off loses the connection, with the reason", async () => {
  const { response, reading, cut } = held();
  called(response);
  const { connection, call } = await connected();
  const left = new AbortController();
  const ended = expect(call(left.signal)).rejects.toThrow();
  await reading;
  const reason = new Error("socket hang up");
  cut(reason);
  await expect.poll(() => connection.lost.aborted).toBe(true);
  expect(connection.lost.reason).toBe(reason);
  left.abort();
  await ended;
});

test("a call that its caller stopped does not lose the connection", async () => {
  const { response, reading, cut } = held();
  called(response);
  const { connection, call } = await connected();
  const left = new AbortController();
  const ended = expect(call(left.signal)).rejects.toThrow();
  await reading;
  left.abort();
  cut(new Error("aborted"));
  await ended;
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  expect(connection.lost.aborted).toBe(false);
});
