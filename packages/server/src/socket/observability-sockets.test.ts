// Live spans and lines of one client: by its filter, its view and the host's decisions.
import { createAndante, createWorkflow, memoryStore } from "@andante/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { silentLogger } from "../../../../test/support/silent-logger.ts";
import type { Authorize } from "../auth/authorize.ts";
import { Permission } from "../auth/permission.ts";
import { ObservabilitySockets } from "./observability-sockets.ts";
import { sendBounded } from "./serve-client.ts";
import { echo } from "./socket-paths.ts";

const guarded = { action: "observability.follow" };
const nobody = { user: undefined, userId: undefined };
const ada = { user: { id: "ada" }, userId: "ada" };
const anyone = new Permission(undefined, false, nobody, guarded);
const askedOf = (authorize: Authorize) => new Permission(authorize, true, ada, guarded);
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

async function start() {
  const speak = createWorkflow({ id: "speak", input: z.unknown() }).andThen({ id: "say", execute: () => 1 });
  const andante = createAndante({ workflows: { speak }, store: memoryStore(), logger: silentLogger });
  await andante.ready();
  onTestFinished(() => andante.close());
  return { andante, sockets: new ObservabilitySockets(andante) };
}

function clientSocket() {
  const socket: WebSocket = Object.create(WebSocket.prototype);
  const state = vi.spyOn(socket, "readyState", "get").mockReturnValue(WebSocket.OPEN);
  const buffered = vi.spyOn(socket, "bufferedAmount", "get").mockReturnValue(0);
  const send = vi.spyOn(socket, "send").mockReturnValue();
  const close = vi.spyOn(socket, "close").mockReturnValue();
  const messages = () => send.mock.calls.map(([text]) => JSON.parse(String(text)));
  return { socket, state, buffered, send, close, messages };
}

async function connect(sockets: ObservabilitySockets, query = "", permission = anyone) {
  const client = clientSocket();
  const handler = await sockets.prepare(new URLSearchParams(query), permission);
  handler.open(client.socket);
  const numbers = () => client.messages().flatMap(({ data }) => data.n ?? []);
  return { ...client, handler, numbers, say: (text: string) => handler.message(client.socket, text) };
}

test("lines and spans come in their envelopes, and clients with the same view share a text", async () => {
  const { andante, sockets } = await start();
  const [one, two] = [await connect(sockets), await connect(sockets)];
  const outlined = await connect(sockets, "", new Permission(() => true, true, nobody, guarded));
  andante.logger.info({ n: 1, agentId: "a" }, "line");
  const data = { timestamp, level: "info", msg: "line", agentId: "a" };
  expect(one.messages()).toEqual([{ type: "OBSERVABILITY_LOG", success: true, data: { ...data, n: 1 } }]);
  expect(one.send.mock.calls).toEqual([[expect.any(Buffer), { binary: false }]]);
  expect(one.send.mock.lastCall?.[0]).toBe(two.send.mock.lastCall?.[0]);
  await expect.poll(outlined.messages).toEqual([{ type: "OBSERVABILITY_LOG", success: true, data }]);
  await andante.execute("speak", {});
  const ended = () =>
    one
      .messages()
      .filter(({ type, data: { span } }) => type === "OBSERVABILITY_EVENT" && span.entityId === "speak");
  await expect
    .poll(() => ended().at(-1))
    .toEqual({
      type: "OBSERVABILITY_EVENT",
      success: true,
      data: {
        type: "span-end",
        span: expect.objectContaining({ name: "invoke_workflow speak", entityType: "workflow" }),
      },
    });
});

test.each([
  ["", [1, 2, 3, 4]],
  ["entityType=workflow", [1, 3]],
  ["entityType=agent", [2]],
  ["entityId=x", [1, 2]],
  ["entityType=agent&entityId=x", [2]],
  ["entityType=workflow&entityId=y", [3]],
])("with the filter %j the lines %j come: an agent in a workflow is part of it", async (query, expected) => {
  const { andante, sockets } = await start();
  const client = await connect(sockets, query);
  const { logger } = andante;
  logger.info({ n: 1, workflowId: "x" }, "line");
  logger.info({ n: 2, agentId: "x" }, "line");
  logger.info({ n: 3, workflowId: "y", agentId: "z" }, "line");
  logger.info({ n: 4 }, "line");
  expect(client.numbers()).toEqual(expected);
});

test("the host is asked about the filter under the names of its definition, and about each entry", async () => {
  const { andante, sockets } = await start();
  const authorize = vi.fn<Authorize>(({ resource }) => resource.workflowId !== "hidden");
  const asked = () => authorize.mock.calls.splice(0).map(([{ resource }]) => resource);
  for (const [query, resource] of [
    ["", {}],
    ["entityId=x", { entityId: "x" }],
    ["entityType=agent", { entityType: "agent" }],
    ["entityType=agent&entityId=x", { entityType: "agent", entityId: "x", agentId: "x" }],
    ["entityType=workflow&entityId=x", { entityType: "workflow", entityId: "x", workflowId: "x" }],
  ] as const) {
    await sockets.prepare(new URLSearchParams(query), askedOf(authorize));
    expect(asked()).toEqual([resource]);
  }
  const refused = sockets.prepare(
    new URLSearchParams("entityType=workflow&entityId=hidden"),
    askedOf(authorize),
  );
  await expect(refused).rejects.toHaveProperty("status", 403);
  await expect(sockets.prepare(new URLSearchParams("entityType=x"), anyone)).rejects.toHaveProperty(
    "status",
    400,
  );
  asked();
  const client = await connect(sockets, "", askedOf(authorize));
  asked();
  andante.logger.info({ n: 1, workflowId: "w", conversationId: "c", userId: "bob" }, "line");
  andante.logger.info({ n: 2, workflowId: "hidden" }, "line");
  andante.logger.info({ n: 3, agentId: "a" }, "line");
  await expect.poll(client.numbers).toEqual([1, 3]);
  expect(asked()).toEqual([
    { workflowId: "w", conversationId: "c", userId: "bob" },
    { workflowId: "hidden" },
    { agentId: "a" },
  ]);
});

test("a caller sees its own entries, or none", async () => {
  const { andante, sockets } = await start();
  const own = await connect(
    sockets,
    "",
    new Permission(undefined, true, ada, { ...guarded, reveals: "own" }),
  );
  const none = await connect(
    sockets,
    "",
    new Permission(undefined, true, nobody, { ...guarded, reveals: "own" }),
  );
  andante.logger.info({ n: 1, userId: "bob" }, "line");
  andante.logger.info({ n: 2, userId: "ada" }, "line");
  andante.logger.info({ n: 3 }, "line");
  expect([own.numbers(), none.numbers()]).toEqual([[2], []]);
});

test("a host that cannot decide ends the client, with a line in the log", async () => {
  const { andante, sockets } = await start();
  const broken = new Error("no directory");
  const client = await connect(
    sockets,
    "",
    askedOf(({ resource }) => {
      if (resource.workflowId !== undefined) throw broken;
      return true;
    }),
  );
  const errors = vi.spyOn(andante.logger, "error").mockReturnValue();
  andante.logger.info({ n: 1, workflowId: "w" }, "line");
  await expect
    .poll(() => client.close.mock.calls)
    .toEqual([[1011, "The server could not serve this socket"]]);
  expect(errors.mock.calls).toEqual([[{ err: broken }, "a WebSocket was closed because serving it failed"]]);
});

test.each([
  ["PING", true],
  ['{"type":"PING"}', true],
  ['{"type":"PONG"}', false],
  ["null", false],
  ["ping", false],
])("the message %s gets a reply: %s", async (text, isAnswered) => {
  const { sockets } = await start();
  const client = await connect(sockets);
  client.say(text);
  const pong = { type: "PONG", success: true, data: { timestamp } };
  expect(client.messages()).toEqual(isAnswered ? [pong] : []);
});

test("lines and spans are followed while there are clients", async () => {
  const { andante, sockets } = await start();
  const [lines, spans] = [vi.spyOn(andante.logs, "follow"), vi.spyOn(andante.traces, "follow")];
  const [stopLines, stopSpans] = [vi.fn(), vi.fn()];
  lines.mockReturnValue({ after: 0, stop: stopLines });
  spans.mockReturnValue(stopSpans);
  const [one, two] = [await connect(sockets), await connect(sockets)];
  expect([lines.mock.calls.length, spans.mock.calls.length]).toEqual([1, 1]);
  one.handler.close?.(one.socket);
  expect([stopLines.mock.calls.length, stopSpans.mock.calls.length]).toEqual([0, 0]);
  lines.mock.calls[0]?.[0](Object({ workflowId: null, agentId: null, userId: null, record: '{"n":1}' }));
  expect([one.numbers(), two.numbers()]).toEqual([[], [1]]);
  two.handler.close?.(two.socket);
  expect([stopLines.mock.calls.length, stopSpans.mock.calls.length]).toEqual([1, 1]);
  await connect(sockets);
  expect([lines.mock.calls.length, spans.mock.calls.length]).toEqual([2, 2]);
});

test("the connection test greets and echoes, JSON as it is and other text as a string", () => {
  const { socket, messages, send } = clientSocket();
  echo.open(socket);
  for (const text of ["hi", '{"a":1}', "5"]) echo.message(socket, text);
  expect(messages()).toEqual([
    { type: "CONNECTION_TEST", success: true, data: { message: "connected" } },
    { type: "ECHO", success: true, data: "hi" },
    { type: "ECHO", success: true, data: { a: 1 } },
    { type: "ECHO", success: true, data: 5 },
  ]);
  const nested = "[".repeat(20_000) + "]".repeat(20_000);
  echo.message(socket, nested);
  expect(String(send.mock.lastCall?.[0])).toBe(`{"type":"ECHO","success":true,"data":${nested}}`);
});

test("a client with more than 4 MiB unsent is closed, and one that is not open receives nothing", () => {
  const { socket, state, buffered, close, messages } = clientSocket();
  buffered.mockReturnValue(4 * 1024 * 1024);
  sendBounded(socket, { n: 1 });
  buffered.mockReturnValue(4 * 1024 * 1024 + 1);
  sendBounded(socket, { n: 2 });
  expect(close.mock.calls).toEqual([[1013, "Reading too slowly"]]);
  buffered.mockReturnValue(0);
  state.mockReturnValue(WebSocket.CLOSING);
  sendBounded(socket, { n: 3 });
  expect(messages()).toEqual([{ n: 1 }]);
});
