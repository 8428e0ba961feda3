// The column `reveals` of the route table, written here by hand: a route that is added without a line here fails.
import { memoryStore } from "@andante/core";
import { createApp } from "@andante/server";
import { expect, test } from "vitest";
import { routes } from "../../packages/server/src/routes/index.ts";
import { socketPaths } from "../../packages/server/src/socket/socket-paths.ts";
import { cleanup } from "../support/cleanup.ts";

/** Actions that show or change data of a user. */
const bound: Readonly<Record<string, "own" | "outline">> = {
  "agents.attach": "own",
  "agents.stop": "own",
  "agents.queue": "own",
  "agents.withdraw": "own",
  "conversations.list": "own",
  "conversations.read": "own",
  "conversations.messages": "own",
  "conversations.export": "own",
  "conversations.fork": "own",
  "conversations.decide": "own",
  "conversations.rename": "own",
  "conversations.remove": "own",
  "conversations.removeSummary": "own",
  "facts.read": "own",
  "facts.change": "own",
  "facts.remove": "own",
  "executions.replay": "own",
  "executions.events": "own",
  "executions.attach": "own",
  "executions.list": "own",
  "executions.follow": "own",
  "events.send": "own",
  "events.list": "own",
  "schedules.list": "own",
  "schedules.read": "own",
  "schedules.set": "own",
  "schedules.remove": "own",
  "schedules.pause": "own",
  "schedules.resume": "own",
  "schedules.trigger": "own",
  "schedules.backfill": "own",
  "server.read": "own",
  "nodes.read": "own",
  "usage.read": "own",
  "logs.read": "outline",
  "traces.list": "own",
  "traces.read": "own",
};

/** Actions that start, steer or describe, or are open by contract. */
const free = [
  "agents.list",
  "agents.read",
  "agents.text",
  "agents.object",
  "agents.stream",
  "agents.streamObject",
  "agents.chat",
  "agents.playground",
  "workflows.list",
  "workflows.read",
  "workflows.execute",
  "workflows.stream",
  "executions.read",
  "executions.suspend",
  "executions.resume",
  "executions.cancel",
  "schedules.preview",
  "events.types",
  // By the signature of a link or a webhook.
  ...["links.read", "links.decide", "receivers.receive"],
  // For operators.
  ...["endpoints.list", "endpoints.read", "endpoints.set", "endpoints.remove", "endpoints.rotate"],
  ...["endpoints.enable", "endpoints.test", "deliveries.list", "deliveries.read", "deliveries.redeliver"],
  "metrics.read",
  "documentation.read",
  "health.read",
];

test("every route declares whose data it shows", () => {
  for (const { action, path, reveals } of routes) {
    // The state is open by contract; the same under our own address is not.
    const isOurs = /^\/api\/executions\/:executionId(\/explain)?$/.test(path);
    expect(reveals, action).toBe(isOurs ? "own" : bound[action]);
    expect(Object.hasOwn(bound, action) || free.includes(action), `${action} is in neither list`).toBe(true);
  }
});

test("reads of one execution, conversation or trace are bound to its user; only the state is not", () => {
  const aboutOne = routes.filter(
    ({ method, path }) => method === "GET" && /:(executionId|conversationId|traceId)/.test(path),
  );
  const open = aboutOne.filter(({ reveals }) => reveals === undefined).map(({ action }) => action);
  expect(open).toEqual(["executions.read"]);
});

test("every socket does too", () => {
  const { andante, close } = createApp({ store: memoryStore() });
  cleanup(close);
  const told = socketPaths(andante).map(({ path, action, reveals }) => [path, action, reveals]);
  expect(told).toEqual([
    ["/ws", "sockets.echo", undefined],
    ["/ws/logs", "logs.follow", "outline"],
    ["/ws/observability", "observability.follow", "outline"],
  ]);
});
