// The limit that each route counts against, and the work of a route whose client has disconnected.
import { memoryStore } from "@andante/core";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../app.ts";
import { costOf } from "../route.ts";
import { routes } from "./index.ts";

test("every route that reads much, streams or exports counts against its bound, and no other does", () => {
  const of = (cost: ReturnType<typeof costOf>) =>
    routes
      .filter((route) => costOf(route) === cost)
      .map(({ method, path }) => `${method} ${path}`)
      .sort();
  expect({ export: of("export"), read: of("read"), stream: of("stream") }).toEqual({
    export: ["GET /api/conversations/:conversationId/export"],
    read: [
      "GET /api/activity",
      "GET /api/budgets",
      "GET /api/conversations",
      "GET /api/conversations/:conversationId",
      "GET /api/conversations/:conversationId/facts",
      "GET /api/conversations/:conversationId/messages",
      "GET /api/deliveries",
      "GET /api/deliveries/:deliveryId",
      "GET /api/endpoints",
      "GET /api/endpoints/:endpointId",
      "GET /api/events",
      "GET /api/execution-counts",
      "GET /api/executions",
      "GET /api/executions/:executionId",
      "GET /api/executions/:executionId/events",
      "GET /api/executions/:executionId/explain",
      "GET /api/failures",
      "GET /api/inbox",
      "GET /api/logs",
      "GET /api/nodes",
      "GET /api/schedules",
      "GET /api/schedules/:scheduleId",
      "GET /api/schedules/:scheduleId/occurrences",
      "GET /api/search",
      "GET /api/server",
      "GET /api/traces",
      "GET /api/traces/:traceId",
      "GET /api/usage",
      "GET /api/users/:userId/facts",
      "GET /api/workflows/:id/activity",
      "GET /api/workflows/:id/definitions",
      "GET /decide/:token",
      "GET /workflows/:id/executions",
      "GET /workflows/:id/executions/:executionId/events",
      "GET /workflows/:id/executions/:executionId/state",
      "POST /decide/:token",
    ],
    stream: [
      "GET /agents/:id/chat/:conversationId/stream",
      "GET /api/changes",
      "GET /workflows/:id/executions/:executionId/stream",
      "POST /agents/:id/chat",
      "POST /agents/:id/stream",
      "POST /agents/:id/stream-object",
      "POST /api/agents/:id/playground",
      "POST /workflows/:id/stream",
    ],
  });
});

test("metrics that are asked for at the same time are read from the store once, and then again", async () => {
  const store = memoryStore();
  let reads = 0;
  const countSuspended = async () => {
    reads += 1;
    return store.observations.countSuspended();
  };
  const observations = { ...store.observations, countSuspended };
  const [open, close] = [() => store.open(), () => store.close()];
  const app = createApp({ workflows: {}, store: { ...store, open, close, observations } });
  onTestFinished(() => app.close());
  const ask = async () => (await app.fetch(new Request("http://localhost/metrics"))).text();
  await app.andante.ready();
  const texts = await Promise.all(Array.from({ length: 50 }, ask));
  for (const text of texts) expect(text).toContain("andante_executions_suspended 0");
  expect(reads).toBe(1);
  await ask();
  expect(reads).toBe(2);
});

test("a fork copies no further page once its client has left", async () => {
  const store = memoryStore();
  const left = new AbortController();
  let pages = 0;
  const conversations: typeof store.conversations = {
    ...store.conversations,
    fork: async () => {
      pages += 1;
      if (pages === 3) left.abort();
      return pages < 20 ? { kind: "more", copied: pages } : { kind: "missing" };
    },
  };
  const [open, close] = [() => store.open(), () => store.close()];
  const app = createApp({ workflows: {}, store: { ...store, open, close, conversations } });
  onTestFinished(() => app.close());
  const request = new Request("http://localhost/api/conversations/talk/fork", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
    signal: left.signal,
  });
  await Promise.resolve(app.fetch(request)).catch(() => undefined);
  expect(pages).toBe(3);
});
