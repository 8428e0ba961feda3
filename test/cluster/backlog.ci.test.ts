// A dead node leaves thousands of executions behind: three nodes finish them, each its share, and serve meanwhile.
//
// ANDANTE_BACKLOG=20000 makes them more; that takes one to three minutes on two cores.
import { randomUUID } from "node:crypto";
import { createAndante, createLogger } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { type PostgresServer, startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { call, dataOf, postOf } from "../support/responses.ts";
import { checkAll } from "./checks.ts";
import { Cluster, schema } from "./cluster.ts";
import { workflowsFor } from "./node/workflows.ts";
import type { NodeProcess } from "./node-process.ts";
import { readRemains } from "./remains.ts";
import { readBodies } from "./side-log.ts";

const abandoned = Number(process.env.ANDANTE_BACKLOG ?? 4_000);
/** Milliseconds. No node dies here, and none is to be taken for dead on a machine that has no time for it. */
const lease = 30_000;
const mebibyte = 1024 * 1024;
/**
 * Mebibytes by which the resident memory of a node may grow, however long the backlog is: a node claims 100 at a time,
 * loads 8 of them and keeps nothing of those that ended, so its heap stays below 50 MiB. It may have 96, beyond which
 * the node would end; the rest is garbage that is not collected yet, and buffers.
 */
const maxHeap = 96;
const maxGrowth = 160;

let server: PostgresServer;
let admin: pg.Client;
let cluster: Cluster | undefined;
beforeAll(async () => {
  server = await startPostgres({ max_connections: 100 });
  admin = new pg.Client(server.url);
  await admin.connect();
});
afterAll(async () => {
  await cluster?.remove();
  await admin.end();
  await server.remove();
});

/** Leaves executions whose only body ran when their node died. From one that a node began they differ by ids and inputs. */
async function abandon(count: number): Promise<void> {
  const { row, events } = await beginOne();
  const { workflowId, context, userId, conversationId, startAt, timeoutAt, definition, trace } = row;
  const same = {
    workflowId,
    context,
    userId,
    conversationId,
    timeoutAt,
    trace,
    definition: definition ?? "",
  };
  const store = postgresStore({ url: server.url, schema });
  await store.open();
  await store.heartbeat({ owner: "dead", lease: 1 });
  const numbers = Array.from({ length: count }, (_, n) => n).values();
  const create = async () => {
    for (const n of numbers) {
      const input = JSON.stringify({ n, work: 0 });
      await store.create({
        ...same,
        executionId: `abandoned-${n}`,
        startAt: startAt + n,
        input,
        claim: { owner: "dead", token: randomUUID() },
        events: events.map(({ sequence, ...event }) => ({ ...event, value: event.value && input })),
      });
    }
  };
  await Promise.all(Array.from({ length: 500 }, create));
  await store.close();
}

/** An execution as a node begins it. */
async function beginOne() {
  const store = postgresStore({ url: server.url, schema });
  const { single } = workflowsFor({ log: "/dev/null", release: "new" });
  const node = createAndante({ store, workflows: { single }, logger: createLogger({ level: "silent" }) });
  const { executionId } = await node.start("single", { n: 0, work: 3_600_000 });
  const state = await store.state(executionId);
  if (state === undefined) throw new Error("none was begun");
  const events = await store.events({ executionId, after: 0, limit: 10 });
  await node.cancel("single", executionId);
  await node.close({ grace: 0 });
  return { row: state.execution, events };
}

const countAbandoned = async (): Promise<number> => {
  const count = `select count(*)::integer as count from ${schema}.executions where end_at is null`;
  const { rows } = await admin.query(count);
  return z.object({ count: z.int() }).parse(rows[0]).count;
};

/** Of each node, in bytes. */
const resident = (nodes: readonly NodeProcess[]): Promise<number[]> =>
  Promise.all(
    nodes.map(async ({ url }) => {
      const { text } = await call(`${url}/metrics`);
      return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
    }),
  );

test("three nodes finish the executions of a dead one, once, each its share, in bounded memory, and serve meanwhile", {
  timeout: 600_000,
}, async () => {
  await abandon(abandoned);
  vi.stubEnv("NODE_OPTIONS", `${process.env.NODE_OPTIONS ?? ""} --max-old-space-size=${maxHeap}`);
  const began = performance.now();
  cluster = await Cluster.start({ url: server.url, nodes: 3, lease });
  const { nodes, log } = cluster;
  const leftAtFirst = await countAbandoned();
  // Ready, though most of it is still to be done.
  expect(leftAtFirst).toBeGreaterThan(abandoned / 2);
  const memoryAtFirst = await resident(nodes);
  let memory = memoryAtFirst;
  let served = 0;
  const serve = async ({ url }: NodeProcess) => {
    expect((await call(`${url}/ready`)).status).toBe(200);
    const body = { input: { n: served, work: 0 }, options: { executionId: `new-${served++}` } };
    const executed = await call(`${url}/workflows/single/execute`, postOf(body, {}));
    expect(dataOf(executed)).toMatchObject({ status: "completed" });
  };
  for (let left = leftAtFirst; left > 0; left = await countAbandoned()) {
    await Promise.all(nodes.map(serve));
    const now = await resident(nodes);
    memory = memory.map((most, place) => Math.max(most, now[place] ?? 0));
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  const lines = readBodies(log);
  const shares = nodes.map(({ pid }) => lines.filter((line) => line.pid === pid).length / lines.length);
  const growth = memory.map((most, place) => (most - (memoryAtFirst[place] ?? 0)) / mebibyte);
  process.stdout.write(
    `${abandoned} executions in ${seconds} s, ${served} others beside them; shares ${shares.map((share) => share.toFixed(2))}, growth ${growth.map(Math.round)} MiB\n`,
  );
  for (const share of shares) expect(share).toBeGreaterThan(0.15);
  for (const each of growth) expect(each).toBeLessThan(maxGrowth);
  const all = Array.from({ length: abandoned }, (_, n) => `abandoned-${n}`);
  const others = Array.from({ length: served }, (_, n) => `new-${n}`);
  // No node has died meanwhile, so no body runs twice.
  expect(lines.map(({ executionId }) => executionId).sort()).toEqual([...all, ...others].sort());
  const told = { status: "completed", result: undefined };
  const ended = all.map((executionId) => ({ executionId, workflowId: "single", told }));
  expect(checkAll(ended, await readRemains(server.url), lines)).toEqual([]);
});
