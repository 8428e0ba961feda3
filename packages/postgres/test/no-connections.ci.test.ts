// Other clients take every connection that the database has: nodes that run wait, say why, and lose and repeat nothing.
import { type Andante, createAndante, createWorkflow } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

const problem = "the database has no connection left";

let server: PostgresServer;
let admin: pg.Client;
const nodes: { readonly node: Andante; readonly lines: RecordingLogger }[] = [];
beforeAll(async () => {
  server = await startPostgres({ max_connections: 25 });
  // A superuser has connections that others cannot take.
  admin = new pg.Client(server.url);
  await admin.connect();
  await admin.query("create role app login password 'secret'; create schema few authorization app");
  for (let count = 0; count < 2; count++) nodes.push(await startNode());
}, 60_000);
afterAll(async () => {
  for (const { node } of nodes) await node.close({ grace: 0 });
  await admin.end();
  await server.remove();
});

const opened = Promise.withResolvers<void>();
const runs: string[] = [];
const waiting = new Set<string>();
const chain = createWorkflow({ id: "chain", input: z.object({ n: z.number() }) })
  .andThen({
    id: "wait",
    execute: async ({ executionId, input }) => {
      runs.push(`${executionId} wait`);
      waiting.add(executionId);
      await opened.promise;
      return input.n;
    },
  })
  .andThen({
    id: "double",
    execute: ({ executionId, data }) => {
      runs.push(`${executionId} double`);
      return data * 2;
    },
  });

const url = () => server.url.replace("postgres:password", "app:secret");

async function startNode() {
  // A lease that does not end meanwhile: then bodies may not run again.
  const store = postgresStore({ url: url(), schema: "few", lease: 300_000, writers: 1, readers: 2 });
  const lines = new RecordingLogger();
  const node = createAndante({ store, workflows: { chain }, logger: lines });
  try {
    await node.ready();
  } catch (error) {
    await node.close({ grace: 0 });
    throw error;
  }
  return { node, lines };
}

/** Takes every connection, also those of the nodes, which are ended for that. */
async function takeAll(): Promise<pg.Client[]> {
  // A backend that is told to end keeps its connection for a moment, so the refusal of a client does not show that all
  // are taken. Their number does: every connection but the one of `admin` and the reserved ones.
  const { rows } = await admin.query<{ count: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - 1 as count`,
  );
  const taken: pg.Client[] = [];
  while (taken.length < (rows[0]?.count ?? 0)) {
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'andante'",
    );
    await fill(taken);
  }
  return taken;
}

/** Connects until the database refuses it. */
async function fill(taken: pg.Client[]): Promise<void> {
  for (;;) {
    const client = new pg.Client(url());
    client.on("error", () => {});
    try {
      await client.connect();
      taken.push(client);
    } catch (error) {
      expect(error).toMatchObject({ code: "53300" });
      return;
    }
  }
}

test("nodes without a connection wait and say why, and continue when there are connections again", {
  timeout: 90_000,
}, async () => {
  const starts = nodes.flatMap(({ node }) =>
    Array.from({ length: 20 }, (_, n) => node.start("chain", { n })),
  );
  const started = await Promise.all(starts);
  await expect.poll(() => waiting.size).toBe(40);
  const taken = await takeAll();
  opened.resolve();
  for (const { node, lines } of nodes) {
    const refused = node.start("chain", { n: 0 }, { executionId: "refused" });
    await expect(refused).rejects.toMatchObject({ code: "store-unavailable", status: 503 });
    await expect.poll(async () => (await node.store.health()).problem).toBe(problem);
    // One line when it begins, with the first fault: that may be the end of a connection.
    const trouble = () => lines.of("error").map(({ msg }) => msg);
    await expect.poll(trouble).toEqual([expect.stringContaining("the storage is in trouble")]);
  }
  await expect(startNode()).rejects.toMatchObject({
    code: "store-open",
    message: expect.stringContaining(problem),
  });
  for (const client of taken) await client.end();
  const results = await Promise.all(started.map((handle) => handle.result()));
  for (const [index, result] of results.entries())
    expect(result).toMatchObject({ status: "completed", result: (index % 20) * 2 });
  const once = started.flatMap(({ executionId }) => [`${executionId} wait`, `${executionId} double`]);
  expect(runs.toSorted()).toEqual(once.toSorted());
  for (const { node, lines } of nodes) {
    await expect(node.state("chain", "refused")).rejects.toMatchObject({ status: 404 });
    expect(await node.execute("chain", { n: 5 })).toMatchObject({ status: "completed", result: 10 });
    const healed = () => lines.of("warn").map(({ msg }) => msg);
    await expect.poll(healed).toContain("the storage works again: runs continue");
    await expect.poll(async () => (await node.store.health()).problem).toBeNull();
  }
});

test("a node that finds fewer connections than it needs at its start ends with the reason, with as many as it may use it works", {
  timeout: 90_000,
}, async () => {
  for (const { node } of nodes.splice(0)) await node.close({ grace: 0 });
  const taken = await takeAll();
  const free = async (count: number) => {
    for (const client of taken.splice(-count)) await client.end();
    const ofRole = "select from pg_stat_activity where usename = 'app'";
    await expect.poll(async () => (await admin.query(ofRole)).rowCount).toBe(taken.length);
  };
  await free(1);
  const refused = { code: "store-unavailable", cause: { message: problem } };
  await expect(startNode()).rejects.toMatchObject(refused);
  // One writes, two read, and three are for leases, for telling others and for listening.
  await free(5);
  const started = await startNode();
  nodes.push(started);
  const results = Array.from({ length: 20 }, (_, n) => started.node.execute("chain", { n }));
  for (const [n, each] of results.entries()) expect(await each).toMatchObject({ result: n * 2 });
  expect(started.lines.of("warn", "error")).toEqual([]);
  for (const client of taken) await client.end();
});
