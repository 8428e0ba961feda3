// The calls of an MCP server's tools: which are repeated, which fail, and what the log has about it.
import { beforeEach, expect, test, vi } from "vitest";
import { DefinitionError, McpServerGoneError, McpTimeoutError } from "../../errors/index.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import type { Connected, connect } from "./connect.ts";
import { McpConnection } from "./mcp-connection.ts";
import { checkServer } from "./mcp-server.ts";

const connecting = vi.fn<typeof connect>();
beforeEach(() => {
  connecting.mockReset();
});

type Execute = (input: unknown, options: { abortSignal?: AbortSignal }) => unknown;

/** A connection to a server with the tool `add`. */
function connected(execute: Execute = () => "sum", isForgotten = false) {
  const controller = new AbortController();
  const close = vi.fn(async () => undefined);
  const tools = { add: Object({ description: "Adds", execute }) };
  const made: Connected = { tools, lost: controller.signal, isForgotten, close };
  return { made, close, lose: () => controller.abort() };
}

function start(...servers: (Connected | Error)[]) {
  for (const server of servers) {
    if (server instanceof Error) connecting.mockRejectedValueOnce(server);
    else connecting.mockResolvedValueOnce(server);
  }
  const logger = new RecordingLogger();
  const connection = new McpConnection(
    checkServer("sums", { url: "http://x.example/mcp", timeout: 1000 }),
    connecting,
  );
  const call = async (abortSignal?: AbortSignal) => {
    const { add } = await connection.tools(logger);
    const options = { toolCallId: "c", messages: [], context: {}, ...(abortSignal && { abortSignal }) };
    return add?.execute?.({ one: 1 }, options);
  };
  return { connection, logger, call };
}

const fail = (error: unknown) => () => Promise.reject(error);
const reply = Object.assign(new Error("invalid params"), { code: -32602 });
const refused = new TypeError("fetch failed", {
  cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
});
const gone = (problem: string, cause: unknown) => new McpServerGoneError({ server: "sums", problem, cause });
const place = { mcpServer: "sums", place: "http://x.example/mcp" };
const goneLine = (err: Error) => ({ level: "warn", msg: "an MCP server is gone", ...place, err });
const during = "it went away during the call of add";

test("a call has its input, its options and a signal", async () => {
  const execute = vi.fn<Execute>(() => "sum");
  const { call, connection, logger } = start(connected(execute).made);
  expect(await call()).toBe("sum");
  expect(execute.mock.calls).toEqual([
    [{ one: 1 }, { toolCallId: "c", messages: [], context: {}, abortSignal: expect.any(AbortSignal) }],
  ]);
  expect(connection.name).toBe("sums");
  const tools = await connection.tools(logger);
  expect(tools).toEqual({ add: { description: "Adds", execute: expect.any(Function) } });
  expect([connecting.mock.calls.length, logger.lines]).toEqual([1, []]);
});

test("an error that the server replies with is the tool's, and the connection stays", async () => {
  const first = connected(fail(reply));
  const { call, logger } = start(first.made);
  await expect(call()).rejects.toBe(reply);
  await expect(call()).rejects.toBe(reply);
  expect([connecting.mock.calls.length, first.close.mock.calls.length, logger.lines]).toEqual([1, 0, []]);
});

test.each([
  ["whose session the server has forgotten", connected(fail(reply), true)],
  ["that reached no server", connected(fail(refused))],
])("a call %s is repeated on a new connection", async (_, first) => {
  const { call, logger } = start(first.made, connected().made);
  expect(await call()).toBe("sum");
  expect([connecting.mock.calls.length, first.close.mock.calls.length, logger.lines]).toEqual([2, 1, []]);
});

test("it is repeated once: then the server is gone, and back when it can be reached again", async () => {
  const [first, second] = [connected(fail(refused)), connected(fail(refused))];
  const { call, logger } = start(first.made, second.made, connected().made);
  await expect(call()).rejects.toEqual(gone(during, refused));
  expect(await call()).toBe("sum");
  expect(logger.lines).toEqual([
    goneLine(gone(during, refused)),
    { level: "info", msg: "an MCP server is back", ...place },
  ]);
});

test("a call that was cut off is not repeated: it may have been done", async () => {
  const cut = connected(() => {
    cut.lose();
    throw reply;
  });
  const { call, logger } = start(cut.made, connected().made);
  await expect(call()).rejects.toEqual(gone(during, reply));
  expect(logger.lines).toEqual([goneLine(gone(during, reply))]);
  expect(cut.close).toHaveBeenCalled();
  const broken = new Error("socket hang up");
  connecting.mockReset();
  const unknown = start(connected(fail(broken)).made, connected().made);
  await expect(unknown.call()).rejects.toEqual(gone(during, broken));
  expect(connecting).toHaveBeenCalledTimes(1);
});

test("a caller that leaves gets its own reason, and a slow tool its time", async () => {
  const waits: Execute = (_, { abortSignal }) =>
    new Promise((_resolve, reject) => {
      abortSignal?.addEventListener("abort", () => reject(new Error("aborted")));
    });
  const { call, logger } = start(connected(waits).made);
  const controller = new AbortController();
  const left = call(controller.signal);
  setImmediate(() => controller.abort(new Error("left")));
  await expect(left).rejects.toThrow("left");
  await expect(call()).rejects.toEqual(
    new McpTimeoutError({ server: "sums", toolName: "add", timeout: 1000 }),
  );
  expect(logger.lines).toEqual([]);
});

test("a tool that the server no longer has is named", async () => {
  const [first, second] = [connected(fail(refused)), connected()];
  const { call } = start(first.made, { ...second.made, tools: {} });
  await expect(call()).rejects.toEqual(gone("it no longer has the tool add", undefined));
});

test("an error that is its own cause ends the call like any other", async () => {
  const circle = new Error("cut");
  circle.cause = new Error("around", { cause: circle });
  const { call } = start(connected(fail(circle)).made);
  await expect(call()).rejects.toEqual(gone(during, circle));
});

test("a server that is away keeps its known tools, and one that was never there is gone", async () => {
  const down = new Error("connect ECONNREFUSED");
  const first = connected();
  const { connection, logger } = start(
    first.made,
    down,
    down,
    new DefinitionError({ where: "x", problem: "y" }),
  );
  await connection.tools(logger);
  first.lose();
  expect(Object.keys(await connection.tools(logger))).toEqual(["add"]);
  expect(Object.keys(await connection.tools(logger))).toEqual(["add"]);
  // Once, however many calls find out.
  expect(logger.lines).toEqual([goneLine(gone("it cannot be reached", down))]);
  await expect(connection.tools(logger)).rejects.toThrow("x: y");
  const never = start(down);
  await expect(never.connection.tools(never.logger)).rejects.toEqual(gone("it cannot be reached", down));
});

test("a connection that was lost while it was made is not used again, and a closed one is closed", async () => {
  const lost = connected();
  lost.lose();
  const second = connected();
  const { connection, logger } = start(lost.made, second.made);
  await connection.tools(logger);
  expect(lost.close).toHaveBeenCalledTimes(1);
  await connection.tools(logger);
  expect(connecting).toHaveBeenCalledTimes(2);
  await connection.close();
  expect(second.close).toHaveBeenCalledTimes(1);
  await connection.close();
  expect(second.close).toHaveBeenCalledTimes(1);
});

test("its tools have the prefix, and the server receives the name without it", async () => {
  const execute = vi.fn<Execute>(() => "sum");
  connecting.mockResolvedValueOnce(connected(execute).made);
  const server = checkServer("sums", { url: "http://x.example/mcp", prefix: "sums_" });
  const { sums_add, ...others } = await new McpConnection(server, connecting).tools(new RecordingLogger());
  expect(others).toEqual({});
  expect(await sums_add?.execute?.({}, { toolCallId: "c", messages: [], context: {} })).toBe("sum");
  expect(connecting.mock.calls).toEqual([[server]]);
});

test("calls at once share a connection, and closing while it is made closes it", async () => {
  const first = connected();
  const opening = Promise.withResolvers<Connected>();
  connecting.mockReturnValueOnce(opening.promise);
  const { connection, logger } = start();
  const calls = [connection.tools(logger), connection.tools(logger)];
  const closed = connection.close();
  opening.resolve(first.made);
  await Promise.all([...calls, closed]);
  expect(first.close).toHaveBeenCalledTimes(1);
  connecting.mockResolvedValueOnce(connected().made);
  await connection.tools(logger);
  expect(connecting).toHaveBeenCalledTimes(2);
});

test("closing while a server cannot be reached closes nothing, and the next use connects", async () => {
  const { connection, logger } = start(new Error("down"), connected().made);
  const failing = expect(connection.tools(logger)).rejects.toThrow("it cannot be reached");
  await connection.close();
  await failing;
  expect(Object.keys(await connection.tools(logger))).toEqual(["add"]);
});

test("a connection that is lost after another replaced it leaves that one in use", async () => {
  const [first, second] = [connected(), connected()];
  const { connection, logger } = start(first.made, second.made);
  await connection.tools(logger);
  await connection.close();
  await connection.tools(logger);
  first.lose();
  await connection.tools(logger);
  expect(connecting).toHaveBeenCalledTimes(2);
  expect(second.close).not.toHaveBeenCalled();
});

test("a server that was away has the tools of its last connection", async () => {
  const [first, second] = [connected(), connected()];
  const { connection, logger } = start(
    first.made,
    { ...second.made, tools: { less: Object({ description: "Subtracts" }) } },
    new Error("down"),
  );
  await connection.tools(logger);
  first.lose();
  expect(Object.keys(await connection.tools(logger))).toEqual(["less"]);
  second.lose();
  expect(Object.keys(await connection.tools(logger))).toEqual(["less"]);
});

test("an error without a number is not the server's reply", async () => {
  const broken = Object.assign(new Error("cut"), { code: "EPIPE" });
  for (const error of [broken, { code: -32602 }]) {
    connecting.mockReset();
    const { call } = start(connected(fail(error)).made);
    await expect(call()).rejects.toEqual(gone(during, error));
  }
});
