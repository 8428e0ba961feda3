// A database and callers that behave badly: one of them does not disturb the others.
import { randomBytes, randomUUID } from "node:crypto";
import { type Andante, createAndante, createLogger, createWorkflow } from "@andante/core";
import type { Cancel, NewExecution, Store } from "@andante/core/store";
import { type PostgresStoreOptions, postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { Connection } from "../src/connection/connection.ts";
import { DatabaseClock } from "../src/connection/database-clock.ts";
import { Readers } from "../src/connection/readers.ts";
import { Servers } from "../src/connection/servers.ts";
import { heartbeat } from "../src/operations/heartbeat.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { startProxy } from "./switching-proxy.ts";
import { commitOf, event, execution } from "./write-kit.ts";

let server: PostgresServer;
let admin: pg.Client;
beforeAll(async () => {
  server = await startPostgres({ max_connections: 40 });
  admin = new pg.Client(server.url);
  await admin.connect();
  await admin.query(`create role hasty login password 'hasty'; alter role hasty set statement_timeout = '300ms';
    create schema hasty authorization hasty`);
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

const open = async (fields: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
  const store = postgresStore({ url: server.url, schema: "hostile", ...fields });
  opened.push(store);
  await store.open();
  await store.heartbeat({ owner: "here", lease: 60_000 });
  return store;
};

const cancelOf = ({ executionId }: NewExecution): Cancel => ({
  executionId,
  key: randomUUID(),
  event: event("workflow-cancelled"),
  status: "cancelled",
  error: null,
  due: null,
});

const gate = createWorkflow({ id: "gate", input: z.unknown() })
  .andThen({
    id: "ask",
    execute: ({ resumeData, suspend }) => resumeData ?? suspend("waits", { said: "\u0000\ud800" }),
  })
  .andThen({ id: "tell", execute: ({ data }) => data });

const nap = createWorkflow({ id: "nap", input: z.unknown() })
  .andSleep({ id: "sleep", duration: 1_200 })
  .andThen({ id: "wake", execute: () => "awake" });

const node = async (fields: Partial<PostgresStoreOptions> = {}): Promise<Andante> => {
  const store = postgresStore({ url: server.url, schema: "hostile", ...fields });
  const andante = createAndante({
    store,
    workflows: { gate, nap },
    logger: createLogger({ level: "silent" }),
  });
  opened.push({ close: () => andante.close({ grace: 0 }) });
  await andante.ready();
  return andante;
};

test.each([
  ["", "hostile", "postgres:password"],
  ["of a role whose statements may take little time ", "hasty", "hasty:hasty"],
])("a row %sthat another client keeps locked holds up its own execution alone", async (_, schema, user) => {
  const url = server.url.replace("postgres:password", user);
  const store = await open({ url, schema, statementTimeout: 3_000 });
  const made = Array.from({ length: 40 }, () => execution());
  await Promise.all(made.map((each) => store.create(each)));
  const [locked, ...others] = made;
  if (locked === undefined) throw new Error("none was made");
  const other = new pg.Client(server.url);
  await other.connect();
  await other.query("begin");
  await other.query(`select from ${schema}.executions where execution_id = $1 for update`, [
    locked.executionId,
  ]);
  let isDone = false;
  const held = store.commit(commitOf(locked, 1)).finally(() => (isDone = true));
  try {
    const all = await Promise.all(others.map((each) => store.commit(commitOf(each, 1))));
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(["ok"]));
    // Later calls are not delayed, the caller of its own execution is asked to retry, and the node is healthy.
    const from = performance.now();
    const refused = expect(store.cancel(cancelOf(locked))).rejects.toMatchObject({
      status: 503,
      retryAfter: 2,
    });
    for (const number of [2, 3])
      await Promise.all(others.map((each) => store.commit(commitOf(each, number))));
    expect(performance.now() - from).toBeLessThan(2_000);
    await refused;
    expect(isDone).toBe(false);
    expect((await store.health()).problem).toBeNull();
  } finally {
    await other.end();
  }
  expect(await held).toMatchObject({ kind: "ok", sequence: 2 });
});

test("a sleeping execution whose row another client keeps locked delays no other", async () => {
  const andante = await node({ schema: "sleepers" });
  const { executionId } = await andante.start("nap", {});
  const other = new pg.Client(server.url);
  await other.connect();
  try {
    await other.query("begin");
    await other.query("select from sleepers.executions where execution_id = $1 for update", [executionId]);
    // Until its timer is due and a lane waits for the row.
    const waiting =
      "select from pg_stat_activity where wait_event_type = 'Lock' and query ilike '%for update%'";
    await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(1);
    for (let round = 0; round < 3; round++) {
      const from = performance.now();
      const naps = Array.from({ length: 4 }, () => andante.execute("nap", {}));
      for (const done of await Promise.all(naps)) expect(done.status).toBe("completed");
      // A lane finds out within a second that a row is locked; each of these is written to several times.
      expect(performance.now() - from).toBeLessThan(6_000);
    }
  } finally {
    await other.end();
  }
  const status = async () => (await andante.state("nap", executionId)).status;
  await expect.poll(status).toBe("completed");
});

test("where each round trip takes half a second, executions end and keep their owner", async () => {
  const proxy = await startProxy(server.port, 250);
  const slow = await node({ url: server.url.replace(`:${server.port}/`, `:${proxy.port}/`), lease: 4_000 });
  const quick = await node();
  const { executionId } = await slow.execute("gate", {});
  expect(await slow.resume("gate", executionId, "open")).toMatchObject({ status: "completed" });
  const events = await quick.events("gate", executionId);
  expect(events.filter(({ type }) => type === "step-start").map(({ stepPath }) => stepPath)).toEqual([
    "ask",
    "tell",
  ]);
  await slow.close({ grace: 0 });
  await proxy.close();
});

test("writes that wait for a locked row leave the connections to others, and one that takes too long is soon given up", async () => {
  const store = await open({ schema: "waiting" });
  const made = execution();
  await store.create(made);
  const connect = { connectTimeout: 5_000, statementTimeout: 30_000, prepare: undefined };
  const timeouts = { idle: 5_000, lock: 7_500 };
  const readers = new Readers({ servers: new Servers([server.url], 5_000), ...connect }, 2, timeouts);
  const hasty = new Readers(
    { servers: new Servers([server.url.replace("postgres:password", "hasty:hasty")], 5_000), ...connect },
    1,
    timeouts,
  );
  opened.push(readers, hasty);
  const lock = "select from waiting.executions where execution_id = $1 for update";
  const other = new pg.Client(server.url);
  await other.connect();
  const from = performance.now();
  try {
    await other.query("begin");
    await other.query(lock, [made.executionId]);
    const write = () =>
      readers.write("endTurn", (query) => query(lock, [made.executionId]), { patient: true });
    const writing = Promise.all(Array.from({ length: 4 }, write));
    const tooLong = expect(hasty.read("select pg_sleep(10)", [])).rejects.toMatchObject({ status: 503 });
    const took: number[] = [];
    while (performance.now() - from < 4_500) {
      const asked = performance.now();
      await readers.read("select 1", []);
      took.push(performance.now() - asked);
    }
    // Once the four were found to be locked, each takes a connection for a tenth of a second now and then.
    expect(took.filter((each) => each > 350).length).toBeLessThanOrEqual(4);
    expect(Math.max(...took)).toBeLessThan(6_000);
    expect(readers.trouble).toBeUndefined();
    await tooLong;
    expect(performance.now() - from).toBeLessThan(5_500);
    await other.query("commit");
    await writing;
  } finally {
    await other.end();
  }
});

test("a parked execution that another client keeps locked does not hold up those that a node releases", async () => {
  const store = await open({ schema: "parked" });
  await store.define({ definition: "one", outline: "[]" });
  const made = [1, 2].map(() => execution({ definition: "one" }));
  for (const each of made) {
    await store.create(each);
    const { executionId, claim } = each;
    await store.park({ executionId, token: claim.token, reason: "it changed", definition: "two" });
  }
  const parked = async () => {
    const { rows } = await admin.query("select execution_id from parked.executions where parked is not null");
    return rows.map(({ execution_id }) => execution_id);
  };
  const [locked] = made.map(({ executionId }) => executionId);
  const other = new pg.Client(server.url);
  await other.connect();
  const unpark = () => store.unpark({ workflowId: "publish", definition: "one", own: true });
  try {
    await other.query("begin");
    await other.query("select from parked.executions where execution_id = $1 for update", [locked]);
    await unpark();
    expect(await parked()).toEqual([locked]);
  } finally {
    await other.end();
  }
  await unpark();
  expect(await parked()).toEqual([]);
});

test("leases by the clock of a database that was ahead do not outlive a fail-over to another by as much", async () => {
  await open({ schema: "clocks" });
  const connection = new Connection({
    servers: new Servers([server.url], 5_000),
    connectTimeout: 5_000,
    statementTimeout: 5_000,
    prepare: false,
  });
  opened.push(connection);
  const clock = new DatabaseClock();
  const beat = heartbeat(connection, "clocks", clock, () => undefined);
  await beat({ owner: "me", lease: 1_000 });
  // Another of the same lease, as the earlier database has written it, and one that lives.
  await admin.query(`insert into clocks.owners (owner, expires_at) values
    ('dead', clock_timestamp() + interval '10 minutes'), ('live', clock_timestamp() + interval '1 second')`);
  const expires = async () => {
    const { rows } = await admin.query(
      "select owner, extract(epoch from expires_at - clock_timestamp())::float8 as left from clocks.owners",
    );
    return new Map(rows.map(({ owner, left }) => [owner, left]));
  };
  await beat({ owner: "me", lease: 1_000 });
  expect((await expires()).get("dead")).toBeGreaterThan(590);
  // The node knows another clock: that of the database which has failed.
  clock.offset += 599_000;
  await beat({ owner: "me", lease: 1_000 });
  const left = await expires();
  expect(left.get("dead")).toBeGreaterThan(1);
  expect(left.get("dead")).toBeLessThanOrEqual(2);
  expect(left.get("live")).toBeLessThanOrEqual(1);
  expect(Math.abs(clock.offset)).toBeLessThan(60_000);
});

test("live executions are written while retention waits for a row, and rows locked by another client are passed over", async () => {
  const store = await open({ schema: "retention" });
  const made = Array.from({ length: 30 }, () => execution());
  await Promise.all(made.map((each) => store.create(each)));
  const [ended, live] = [made.slice(0, 20), made.slice(20)];
  const end = { status: "completed", result: "1", error: null } as const;
  await Promise.all(ended.map((each) => store.commit(commitOf(each, 1, { end }))));
  const [seen, stuck] = ended.map(({ executionId }) => executionId).sort();
  const other = new pg.Client(server.url);
  await other.connect();
  await other.query("begin");
  // The row of one, and an event of another: retention passes over the first and has to wait for the second.
  await other.query("select from retention.executions where execution_id = $1 for update", [seen]);
  await other.query("select from retention.journal where execution_id = $1 for update", [stuck]);
  const upTo = { endAt: Date.now() + 60_000, executionId: "" };
  let isDone = false;
  const deleting = store.deleteFinished({ upTo, limit: 100, events: 10_000 }).finally(() => (isDone = true));
  const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and query ilike '%delete%'";
  await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(1);
  for (const number of [1, 2, 3]) {
    const all = await Promise.all(live.map((each) => store.commit(commitOf(each, number))));
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(["ok"]));
  }
  expect(isDone).toBe(false);
  await other.query("commit");
  await other.end();
  const { executionIds } = await deleting;
  expect(executionIds).toHaveLength(19);
  expect(executionIds).not.toContain(seen);
  for (const { executionId } of live)
    expect((await store.state(executionId))?.execution).toMatchObject({ status: "running", sequence: 4 });
});

test("recoveries without progress are counted over all nodes, and end the execution", async () => {
  const begun: string[] = [];
  const nodes: Andante[] = [];
  // Those that are cut off wait for the database before they give up.
  opened.push({ close: async () => void (await Promise.all(nodes.map((each) => each.close({ grace: 0 })))) });
  const nodeOf = async (name: string) => {
    const proxy = await startProxy(server.port);
    opened.push(proxy);
    const deadly = createWorkflow({ id: "deadly", input: z.unknown() }).andThen({
      id: "body",
      execute: () => {
        begun.push(name);
        return new Promise<never>(() => undefined);
      },
    });
    const url = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
    // Longer than any stop of this process: a node loses its lease only where the test ends it.
    const store = postgresStore({ url, schema: "crashloop", lease: 300_000 });
    const andante = createAndante({
      store,
      workflows: { deadly },
      logger: createLogger({ level: "silent" }),
    });
    nodes.push(andante);
    await andante.ready();
    return { andante, proxy };
  };
  let { andante, proxy } = await nodeOf("node 0");
  const { executionId } = await andante.start("deadly", {});
  for (let life = 1; life <= 6; life++) {
    await expect.poll(() => begun.length).toBe(life);
    // The node is cut off, and its lease ends.
    await proxy.close();
    await admin.query("update crashloop.owners set expires_at = clock_timestamp() - interval '1 s'");
    ({ andante, proxy } = await nodeOf(`node ${life}`));
  }
  const status = async () => (await andante.state("deadly", executionId)).status;
  await expect.poll(status).toBe("error");
  expect(begun).toEqual(["node 0", "node 1", "node 2", "node 3", "node 4", "node 5"]);
});

test("two schemas of one database know nothing of each other", async () => {
  const one = await node({ schema: "two 'schemas" });
  // As long as a name may be: 63 bytes.
  const two = await node({ schema: `${"ü".repeat(31)}!` });
  const { executionId } = await one.execute("gate", {});
  await expect(two.state("gate", executionId)).rejects.toMatchObject({ status: 404 });
  await two.execute("gate", {}, { executionId });
  await one.resume("gate", executionId, "open");
  expect(await two.state("gate", executionId)).toMatchObject({ status: "suspended" });
});

test("half characters and NULs, in any value of a caller, are kept or refused as SQLite does", async () => {
  const andante = await node();
  const odd = "a\u0000b\ud800c";
  const { executionId } = await andante.execute(
    "gate",
    { said: odd, [odd]: odd },
    { context: { said: odd } },
  );
  expect(await andante.state("gate", executionId)).toMatchObject({
    suspension: { data: { said: "\u0000\ud800" } },
  });
  const done = await andante.resume("gate", executionId, { said: odd, [odd]: [odd] });
  expect(done.result).toEqual({ said: odd, [odd]: [odd] });
  const other = await andante.execute("gate", {});
  await andante.cancel("gate", other.executionId, { reason: odd });
  const events = await andante.events("gate", other.executionId);
  expect(events.at(-1)).toMatchObject({ type: "workflow-cancelled", reason: odd });
  const refused = { status: 400 };
  for (const options of [{ executionId: odd }, { userId: odd }, { conversationId: odd }, { tags: [odd] }])
    await expect(andante.execute("gate", {}, options)).rejects.toMatchObject(refused);
  await expect(andante.execute("gate", {}, { executionId: "x".repeat(1_000_000) })).rejects.toMatchObject(
    refused,
  );
  await expect(andante.state("gate", odd)).rejects.toMatchObject({ status: 404 });
  expect(await andante.logs.list({ executionId: odd })).toEqual([]);
  expect((await andante.list({ tag: odd })).executions).toEqual([]);
});

test("log lines and counts that the database cannot hold are refused as such, and others beside them are kept", async () => {
  const store = await open();
  const ids = { workflowId: null, executionId: null, conversationId: null, userId: null };
  const line = (id: number, agentId: string) => ({
    ...ids,
    id,
    timestamp: 1,
    level: 1,
    agentId,
    record: "{}",
  });
  const append = (...logs: ReturnType<typeof line>[]) =>
    store.observations.append({ logs, roots: [], chunks: [] });
  const long = randomBytes(3_000).toString("hex");
  for (const bad of ["a\u0000b", long])
    await expect(append(line(1, bad), line(2, "bot"))).rejects.toMatchObject({ code: "store-refused" });
  await append(line(2, "bot"));
  expect(await store.observations.logs({ agentId: "bot", limit: 10 })).toMatchObject([{ id: 2 }]);
  const count = (step: string) =>
    ({ workflowId: "w", step, kind: "completed", bucket: 1, minute: 5, count: 1 }) as const;
  const add = (...steps: string[]) =>
    store.rollups.add({ writer: "here", number: 1, counts: steps.map(count) });
  await expect(add("a", long)).rejects.toMatchObject({ code: "store-refused" });
  // The same number: nothing of the refused batch was kept.
  await add("a");
  expect(await store.rollups.totals({ of: "steps", from: 0, to: 9 })).toMatchObject([
    { step: "a", count: 1 },
  ]);
});
