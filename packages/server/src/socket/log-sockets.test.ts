// The log lines of one client, message by message: stored lines, new ones, other filters, mistakes and failures.
import { type Andante, createAndante, memoryStore } from "@andante/core";
import { InputValidationError } from "@andante/core/errors";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { silentLogger } from "../../../../test/support/silent-logger.ts";
import type { Authorize } from "../auth/authorize.ts";
import { Permission } from "../auth/permission.ts";
import { LogSockets } from "./log-sockets.ts";

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
const caller = { user: { sub: "ada" }, userId: "ada" };
const anyone = new Permission(
  undefined,
  false,
  { user: undefined, userId: undefined },
  { action: "logs.follow" },
);
const askedOf = (authorize: Authorize) => new Permission(authorize, true, caller, { action: "logs.follow" });

async function start() {
  const andante = createAndante({ store: memoryStore(), logger: silentLogger });
  await andante.ready();
  onTestFinished(() => andante.close());
  return { andante, sockets: new LogSockets(andante) };
}

/** A client that is connected, with the texts and objects that were sent to it. */
async function connect(sockets: LogSockets, query = "", permission = anyone) {
  const socket: WebSocket = Object.create(WebSocket.prototype);
  vi.spyOn(socket, "readyState", "get").mockReturnValue(WebSocket.OPEN);
  const send = vi.spyOn(socket, "send").mockReturnValue();
  const close = vi.spyOn(socket, "close").mockReturnValue();
  const handler = await sockets.prepare(new URLSearchParams(query), permission);
  handler.open(socket);
  const messages = () => send.mock.calls.map(([text]) => JSON.parse(String(text)));
  const numbers = () =>
    messages().map(({ type, logs, error }) => [type, error ?? logs.map((line: { n: number }) => line.n)]);
  const say = (message: unknown) =>
    handler.message(socket, typeof message === "string" ? message : JSON.stringify(message));
  return { socket, handler, send, close, messages, numbers, say };
}

const log = ({ logger }: Andante, n: number, fields: object = {}) =>
  logger.info({ n, workflowId: "w", ...fields }, "line");
const filterBy = (filter: object) => ({ type: "updateFilter", filter });

test("stored lines come first, then the new ones, in whole messages", async () => {
  const { andante, sockets } = await start();
  log(andante, 1);
  const client = await connect(sockets, "workflowId=w");
  await expect.poll(client.numbers).toEqual([["initial", [1]]]);
  log(andante, 2, { executionId: "e" });
  log(andante, 3, { workflowId: "other" });
  log(andante, 4);
  await expect.poll(client.messages).toEqual([
    {
      type: "initial",
      success: true,
      logs: [{ timestamp, level: "info", msg: "line", n: 1, workflowId: "w" }],
      timestamp,
    },
    {
      type: "update",
      success: true,
      logs: [
        { timestamp, level: "info", msg: "line", n: 2, workflowId: "w", executionId: "e" },
        { timestamp, level: "info", msg: "line", n: 4, workflowId: "w" },
      ],
      timestamp,
    },
  ]);
  expect(client.send.mock.calls.at(-1)?.[1]).toEqual({ binary: false });
});

test("lines that are written while the stored ones are read come afterwards, the newest thousand, once", async () => {
  const { andante, sockets } = await start();
  const { logs } = andante;
  const read = logs.kept.bind(logs);
  const held = Promise.withResolvers<void>();
  vi.spyOn(logs, "kept").mockImplementation(async (...asked) => held.promise.then(() => read(...asked)));
  log(andante, 0);
  const client = await connect(sockets, "workflowId=w");
  // A thousand lines are passed on at once, without the wait for more.
  for (let n = 1; n <= 2000; n++) log(andante, n, n % 2 === 0 ? {} : { workflowId: "other" });
  held.resolve();
  const even = Array.from({ length: 500 }, (_, index) => 1002 + 2 * index);
  await expect.poll(client.numbers).toEqual([
    ["initial", [0]],
    ["update", even],
  ]);
});

test("a thousand lines are sent at once, without the wait for more", async () => {
  const { andante, sockets } = await start();
  const client = await connect(sockets, "workflowId=w");
  await expect.poll(client.numbers).toEqual([["initial", []]]);
  for (let n = 1; n < 1000; n++) log(andante, n);
  expect(client.numbers()).toHaveLength(1);
  log(andante, 1000);
  expect(client.numbers().slice(1)).toEqual([
    ["update", Array.from({ length: 1000 }, (_, index) => index + 1)],
  ]);
});

test("clients with the same filter share one text, those with another have their own", async () => {
  const { andante, sockets } = await start();
  const [one, two, other] = [
    await connect(sockets, "workflowId=w"),
    await connect(sockets, "workflowId=w"),
    await connect(sockets, "executionId=e"),
  ];
  await expect.poll(() => [one, two, other].flatMap(({ numbers }) => numbers())).toHaveLength(3);
  log(andante, 1);
  log(andante, 2, { executionId: "e" });
  await expect.poll(other.numbers).toEqual([
    ["initial", []],
    ["update", [2]],
  ]);
  expect(one.numbers().slice(1)).toEqual([["update", [1, 2]]]);
  expect(one.send.mock.lastCall?.[0]).toBe(two.send.mock.lastCall?.[0]);
});

test("a new filter begins anew; of those that wait only the last one counts", async () => {
  const { andante, sockets } = await start();
  log(andante, 1, { executionId: "a" });
  log(andante, 2, { executionId: "b" });
  const asked: unknown[] = [];
  const first = Promise.withResolvers<true>();
  const permission = askedOf(({ resource }) => {
    asked.push(resource);
    return resource.executionId === "a" ? first.promise : true;
  });
  const client = await connect(sockets, "workflowId=w", permission);
  await expect.poll(client.numbers).toEqual([["initial", [1, 2]]]);
  asked.length = 0;
  for (const executionId of ["a", "x", "b"]) client.say(filterBy({ executionId }));
  const ids = { workflowId: "w", agentId: "g", conversationId: "c" };
  first.resolve(true);
  await expect.poll(client.numbers).toContainEqual(["initial", [2]]);
  expect(asked).toContainEqual({ executionId: "b" });
  expect(asked).not.toContainEqual({ executionId: "x" });
  client.say(filterBy(ids));
  await expect.poll(client.numbers).toContainEqual(["initial", []]);
  expect(asked).toContainEqual(ids);
});

test("messages that are no filter are described, and a client may send a hundred of them", async () => {
  const { andante, sockets } = await start();
  const client = await connect(sockets, "workflowId=w");
  await expect.poll(client.numbers).toHaveLength(1);
  client.say("no json {");
  client.say(filterBy({ limit: 5000 }));
  expect(client.messages().slice(1)).toEqual([
    { type: "error", success: false, error: "expected JSON" },
    {
      type: "error",
      success: false,
      error: expect.stringMatching(/^Invalid request: message\.filter\.limit/),
    },
  ]);
  for (let n = 3; n <= 100; n++) client.say("null");
  expect(client.close).not.toHaveBeenCalled();
  expect(client.messages()).toHaveLength(101);
  client.say("null");
  expect(client.close.mock.calls).toEqual([[1008, "Too many messages were not a filter"]]);
  expect(client.messages()).toHaveLength(101);
  log(andante, 1);
  await expect.poll(client.numbers).toContainEqual(["update", [1]]);
});

test("a filter that the host forbids or cannot judge is refused, and the old one stays", async () => {
  const { andante, sockets } = await start();
  const errors = vi.spyOn(andante.logger, "error");
  const broken = new Error("no directory");
  const permission = askedOf(({ resource: { executionId } }) => {
    if (executionId === "broken") throw broken;
    return executionId !== "forbidden";
  });
  await expect(
    sockets.prepare(new URLSearchParams("executionId=forbidden"), permission),
  ).rejects.toMatchObject({
    status: 403,
  });
  const client = await connect(sockets, "workflowId=w", permission);
  await expect.poll(client.numbers).toEqual([["initial", []]]);
  client.say(filterBy({ executionId: "forbidden" }));
  await expect.poll(client.numbers).toHaveLength(2);
  expect(errors).not.toHaveBeenCalled();
  client.say(filterBy({ executionId: "broken" }));
  await expect.poll(client.numbers).toHaveLength(3);
  expect(client.numbers().slice(1)).toEqual([
    ["error", expect.stringContaining("logs.follow")],
    ["error", "the filter could not be judged"],
  ]);
  expect(errors.mock.calls).toEqual([[{ err: broken }, "a filter could not be judged"]]);
  log(andante, 1);
  await expect.poll(client.numbers).toContainEqual(["update", [1]]);
});

test("new lines are judged by the host, and one that cannot judge them ends the client", async () => {
  const { andante, sockets } = await start();
  const errors = vi.spyOn(andante.logger, "error").mockReturnValue();
  const broken = new Error("no directory");
  const permission = askedOf(({ resource: { workflowId } }) => {
    if (workflowId === "broken") throw broken;
    return workflowId !== "hidden";
  });
  log(andante, 1);
  log(andante, 2, { workflowId: "hidden" });
  const client = await connect(sockets, "", permission);
  await expect.poll(client.numbers).toEqual([["initial", [1]]]);
  log(andante, 3, { workflowId: "hidden" });
  log(andante, 4);
  await expect.poll(client.numbers).toContainEqual(["update", [4]]);
  log(andante, 5, { workflowId: "broken" });
  await expect
    .poll(() => client.close.mock.calls)
    .toEqual([[1011, "The server could not serve this socket"]]);
  expect(errors.mock.calls).toEqual([[{ err: broken }, "a WebSocket was closed because serving it failed"]]);
});

test("the message of an error loses its secrets", async () => {
  const { andante, sockets } = await start();
  const detail = "cannot reach postgres://app:hunter2@db.example/orders";
  vi.spyOn(andante.logs, "kept").mockRejectedValueOnce(new InputValidationError({ detail }));
  const client = await connect(sockets);
  const error = "Input validation failed: cannot reach postgres://[redacted]@db.example/orders";
  await expect.poll(client.messages).toEqual([{ type: "error", success: false, error }]);
});

test("stored lines that cannot be read are an error, and the new ones come", async () => {
  const { andante, sockets } = await start();
  vi.spyOn(andante.logs, "kept").mockRejectedValueOnce(new Error("disk full at /secret"));
  const client = await connect(sockets, "workflowId=w");
  await expect
    .poll(client.messages)
    .toEqual([{ type: "error", success: false, error: "the lines could not be read" }]);
  log(andante, 1);
  await expect.poll(client.numbers).toEqual([
    ["error", "the lines could not be read"],
    ["update", [1]],
  ]);
});

test("a caller who may see nothing receives no line", async () => {
  const { andante, sockets } = await start();
  log(andante, 1);
  const noUser = { user: { sub: "" }, userId: undefined };
  const client = await connect(
    sockets,
    "",
    new Permission(() => "own", true, noUser, { action: "logs.follow" }),
  );
  const all = await connect(sockets);
  await expect.poll(client.numbers).toEqual([["initial", []]]);
  await expect.poll(all.numbers).toEqual([["initial", [1]]]);
  log(andante, 2);
  await expect.poll(all.numbers).toContainEqual(["update", [2]]);
  expect(client.numbers()).toHaveLength(1);
});

test("the lines are followed while there are clients, and a client that left gets none", async () => {
  const { andante, sockets } = await start();
  const follow = vi.spyOn(andante.logs, "follow");
  const stops = () => follow.mock.results.map(({ value }) => value.stop);
  const one = await connect(sockets, "workflowId=w");
  const stop = vi.fn(stops()[0]);
  Object.assign(follow.mock.results[0]?.value, { stop });
  const two = await connect(sockets, "workflowId=w");
  await expect.poll(() => [one.numbers().length, two.numbers().length]).toEqual([1, 1]);
  expect(follow).toHaveBeenCalledTimes(1);
  one.handler.close?.(one.socket);
  log(andante, 1);
  await expect.poll(two.numbers).toContainEqual(["update", [1]]);
  expect(one.numbers()).toHaveLength(1);
  expect(stop).not.toHaveBeenCalled();
  two.handler.close?.(two.socket);
  expect(stop).toHaveBeenCalledTimes(1);
  const three = await connect(sockets, "workflowId=w");
  await expect.poll(three.numbers).toEqual([["initial", [1]]]);
  expect(follow).toHaveBeenCalledTimes(2);
});

test("a client that leaves while its lines are read, or its filter is judged, receives nothing more", async () => {
  const { andante, sockets } = await start();
  const { logs } = andante;
  const read = logs.kept.bind(logs);
  const held = Promise.withResolvers<void>();
  const kept = vi
    .spyOn(logs, "kept")
    .mockImplementation(async (...asked) => held.promise.then(() => read(...asked)));
  const judged = Promise.withResolvers<true>();
  const permission = askedOf(({ resource }) => (resource.executionId === "slow" ? judged.promise : true));
  const client = await connect(sockets, "workflowId=w", permission);
  client.say(filterBy({ executionId: "slow" }));
  client.handler.close?.(client.socket);
  held.resolve();
  judged.resolve(true);
  const other = await connect(sockets, "workflowId=w");
  await expect.poll(other.numbers).toEqual([["initial", []]]);
  expect(client.send).not.toHaveBeenCalled();
  expect(kept).toHaveBeenCalledTimes(2);
});

test("a filter of the address that is none is refused by name", async () => {
  const { sockets } = await start();
  const prepared = sockets.prepare(new URLSearchParams("limit=x"), anyone);
  await expect(prepared).rejects.toThrow(/^Invalid request: query\.limit/);
});

test("a client to which neither an error nor the lines can be sent is closed", async () => {
  const { andante, sockets } = await start();
  const errors = vi.spyOn(andante.logger, "error").mockReturnValue();
  const permission = askedOf(({ resource }) => resource.executionId !== "forbidden");
  const broken = new Error("broken pipe");
  const closed = [[1011, "The server could not serve this socket"]];
  const first = await connect(sockets, "workflowId=w", permission);
  await expect.poll(first.numbers).toHaveLength(1);
  first.send.mockImplementation(() => {
    throw broken;
  });
  first.say(filterBy({ executionId: "forbidden" }));
  await expect.poll(() => first.close.mock.calls).toEqual(closed);
  const second = await connect(sockets, "workflowId=w", permission);
  await expect.poll(second.numbers).toHaveLength(1);
  vi.spyOn(andante.logs, "last", "get").mockImplementation(() => {
    throw broken;
  });
  second.say(filterBy({ executionId: "e" }));
  await expect.poll(() => second.close.mock.calls).toEqual(closed);
  const line = [{ err: broken }, "a WebSocket was closed because serving it failed"];
  expect(errors.mock.calls).toEqual([line, line]);
});
