// Events and waits on two nodes of one database: at the same moment, with one id, and for workflows of the other node.
import { type Andante, createAndante, createWorkflow, defineEvent } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

/** Pairs of a wait and an event: `ANDANTE_MANY=10000` has so many. */
const pairs = Number(process.env.ANDANTE_MANY ?? 300);
const atOnce = 100;

const data = z.object({ order: z.string() });
const paid = defineEvent({ name: "order.paid", data, key: ({ data }) => data.order });
const placed = defineEvent({ name: "order.placed", data, key: ({ data }) => data.order });
const events = { paid, placed };

const runs = new Map<string, number>();
const waits = createWorkflow({ id: "waits", input: data })
  .andWaitFor({ id: "payment", event: paid, key: ({ data }) => data.order, since: "1h" })
  .andThen({
    id: "count",
    execute: ({ data }) => {
      runs.set(data.order, (runs.get(data.order) ?? 0) + 1);
      return data.order;
    },
  });
const elsewhere = createWorkflow({ id: "elsewhere", input: data, on: { event: placed } }).andThen({
  id: "end",
  execute: ({ data }) => data.order,
});

let server: PostgresServer;
const nodes: Andante[] = [];
beforeAll(async () => {
  server = await startPostgres();
  for (const workflows of [{ waits }, { waits, elsewhere }]) {
    const store = postgresStore({ url: server.url, schema: "events" });
    const node = createAndante({ store, workflows, events });
    nodes.push(node);
    await node.ready();
  }
});
afterAll(async () => {
  for (const node of nodes) await node.close({ grace: 0 });
  await server.remove();
});

function both(): readonly [Andante, Andante] {
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("there are no nodes");
  return [a, b];
}

test("each wait takes the event that is sent at the same moment on the other node, once", {
  timeout: 60_000 + pairs * 100,
}, async () => {
  const [a, b] = both();
  const ids: string[] = [];
  for (let first = 0; first < pairs; first += atOnce) {
    const orders = Array.from({ length: Math.min(atOnce, pairs - first) }, (_, index) => `${first + index}`);
    await Promise.all(
      orders.flatMap((order, index) => {
        const [waiter, sender] = index % 2 === 0 ? [a, b] : [b, a];
        const start = async () => void ids.push((await waiter.start("waits", { order })).executionId);
        const send = async () => void (await sender.send(paid, { order }, { id: `evt-${order}` }));
        return index % 3 === 0 ? [send(), start()] : [start(), send()];
      }),
    );
  }
  await expect.poll(() => runs.size, { timeout: 30_000 + pairs * 50 }).toBe(pairs);
  await expect
    .poll(
      async () => (await a.list({ workflowId: "waits", status: "completed", limit: 500 })).executions.length,
      {
        timeout: 30_000,
      },
    )
    .toBe(Math.min(pairs, 500));
  expect([...runs.values()].filter((count) => count !== 1)).toEqual([]);
  // An effect that its sender did not come to note is found a second later.
  const unmatched = async () => (await a.sentEvents.list({ unmatched: true })).events;
  await expect.poll(unmatched, { timeout: 30_000 }).toEqual([]);
});

test("one id at the same moment on both nodes is one event, with one answer", async () => {
  const [a, b] = both();
  const store = postgresStore({ url: server.url, schema: "events" });
  const c = createAndante({ store, workflows: { waits, elsewhere }, events });
  onTestFinished(() => c.close({ grace: 0 }));
  await c.ready();
  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const send = (node: Andante) => node.send(placed, { order: `${index}` }, { id: `same-${index}` });
      const [one, two] = await Promise.all(index % 2 === 0 ? [send(b), send(c)] : [send(c), send(b)]);
      expect([one.duplicate, two.duplicate].sort()).toEqual([false, true]);
      expect(one.started).toEqual([`elsewhere:same-${index}`]);
      expect(two.started).toEqual(one.started);
      const third = await a.send(placed, { order: `${index}` }, { id: `same-${index}` });
      expect(third).toEqual({ ...one, duplicate: true });
    }),
  );
});

test("an event for a workflow of the other node is started there within two seconds", async () => {
  const [a, b] = both();
  const receipt = await a.send(placed, { order: "far" }, { id: "far" });
  expect(receipt.started).toEqual([]);
  expect(receipt.skipped.map(({ workflowId }) => workflowId)).toEqual(["elsewhere"]);
  await expect
    .poll(
      async () => (await b.list({ workflowId: "elsewhere", idPrefix: "elsewhere:far" })).executions.length,
      {
        timeout: 10_000,
      },
    )
    .toBe(1);
  const [execution] = (await b.list({ workflowId: "elsewhere", idPrefix: "elsewhere:far" })).executions;
  const { events: sent } = await a.sentEvents.list({ id: "far" });
  // Both times are those of the database.
  const took = Date.parse(String(execution?.startAt)) - Date.parse(String(sent[0]?.sentAt));
  expect(took).toBeLessThanOrEqual(2000);
  await expect
    .poll(async () => (await a.sentEvents.list({ id: "far" })).events[0]?.started, { timeout: 5_000 })
    .toEqual(["elsewhere:far"]);
  expect(sent).toHaveLength(1);
});

test("an event for a workflow of no living node says so, is unmatched, and starts it once a node has it again", {
  timeout: 60_000,
}, async () => {
  const [a] = both();
  const shipped = defineEvent({ name: "order.shipped", data, key: ({ data }) => data.order });
  const later = createWorkflow({ id: "later", input: data, on: { event: shipped } }).andThen({
    id: "end",
    execute: ({ data }) => data.order,
  });
  const nodeWith = async (workflows: Record<string, typeof later>) => {
    const store = postgresStore({ url: server.url, schema: "events" });
    const node = createAndante({ store, workflows, events: { shipped } });
    onTestFinished(() => node.close({ grace: 0 }));
    await node.ready();
    return node;
  };
  await (await nodeWith({ later })).close();
  const sender = await nodeWith({});
  const receipt = await sender.send(shipped, { order: "1" }, { id: "ship-1" });
  expect(receipt).toMatchObject({
    ...{ eventId: "ship-1", duplicate: false, started: [], woken: [] },
    skipped: [{ workflowId: "later", reason: expect.stringContaining("registered") }],
  });
  const { events: unmatched } = await a.sentEvents.list({ unmatched: true });
  expect(unmatched.map(({ eventId }) => eventId)).toEqual(["ship-1"]);
  const again = await nodeWith({ later });
  await expect
    .poll(async () => (await again.list({ workflowId: "later" })).executions, { timeout: 30_000 })
    .toMatchObject([{ executionId: "later:ship-1", status: "completed" }]);
  const seen = async () => (await a.sentEvents.list({ id: "ship-1" })).events[0];
  await expect.poll(seen, { timeout: 30_000 }).toMatchObject({ started: ["later:ship-1"], unmatched: false });
});
