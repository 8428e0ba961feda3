// Bounds of one node, one item or one caller: locks, long values, silence, reads.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Store } from "@andante/core/store";
import { type PostgresStoreOptions, postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Connection } from "../src/connection/connection.ts";
import { Readers } from "../src/connection/readers.ts";
import { Servers } from "../src/connection/servers.ts";
import { SilenceWatch } from "../src/connection/silence-watch.ts";
import { Lane } from "../src/group/lane.ts";
import { spansElsewhereStatement } from "../src/operations/observations/traces.ts";
import { GroupFacts } from "../src/write/facts.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { startProxy } from "./switching-proxy.ts";
import { commitOf, event, execution } from "./write-kit.ts";

let server: PostgresServer;
let admin: pg.Client;
beforeAll(async () => {
  server = await startPostgres();
  admin = new pg.Client(server.url);
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

const opened: Store[] = [];
const open = async (fields: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
  const store = postgresStore({ url: server.url, schema: "bounds", ...fields });
  await store.open();
  opened.push(store);
  await store.heartbeat({ owner: "here", lease: 60_000 });
  return store;
};
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

const serversOf = (url: string) => new Servers([url], 5_000);
const limits = { connectTimeout: 5_000, statementTimeout: 30_000, prepare: undefined };

test("a call waits for a free connection as long as for a new one, and no longer", async () => {
  const settings = { servers: serversOf(server.url), ...limits, connectTimeout: 300 };
  const readers = new Readers(settings, 1, { idle: 5_000, lock: 5_000 });
  onTestFinished(() => readers.close());
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const holder = readers.once(() => released);
  await expect(readers.once(async () => "done")).rejects.toThrow("timeout exceeded");
  release();
  await holder;
  expect(await readers.once(async () => "done")).toBe("done");
});

test("a node that freezes in a rare write loses its locks, and who waits for them tries again", async () => {
  await admin.query("create table held (id integer); insert into held values (1)");
  const readers = new Readers({ servers: serversOf(server.url), ...limits }, 2, { idle: 400, lock: 150 });
  const lock = "select id from held for update";
  let thaw: () => void = () => {};
  const thawed = new Promise<void>((resolve) => {
    thaw = resolve;
  });
  let locked: () => void = () => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const frozen = readers.write("frozen", async (query) => {
    await query(lock);
    locked();
    await thawed;
  });
  await isLocked;
  expect((await readers.write("healthy", (query) => query(lock))).count).toBe(1);
  thaw();
  await frozen;
  await readers.close();
});

test("an item that cannot be written as text is refused alone", async () => {
  const store = await open({ writers: 1 });
  const made = [execution(), execution()] as const;
  for (const each of made) await store.create(each);
  const tooLong = {
    ...event("long"),
    value: {
      get sameAs(): number {
        throw new RangeError("Invalid string length");
      },
    },
  };
  const fresh = execution();
  const decided = { timers: [{ path: "nap", dueAt: 5 }] };
  const results = await Promise.allSettled([
    store.create(fresh),
    store.commit(commitOf(made[0], 1, { events: [tooLong] })),
    store.commit(commitOf(made[1], 1)),
  ]);
  expect(results).toMatchObject([
    { status: "fulfilled" },
    { status: "rejected", reason: { code: "store-refused" } },
    { status: "fulfilled", value: { kind: "ok", sequence: 2 } },
  ]);
  // The same where the group is decided on locked rows.
  await expect(store.commit(commitOf(made[0], 1, { ...decided, events: [tooLong] }))).rejects.toMatchObject({
    code: "store-refused",
  });
  const state = await store.state(made[0].executionId);
  expect(state).toMatchObject({ execution: { sequence: 1 }, timers: [] });
  expect(await store.commit(commitOf(made[0], 1))).toMatchObject({ kind: "ok", sequence: 2 });
});

describe("connections that were cut in silence", () => {
  const lease = 2_000;
  /** A store behind a proxy, every connection of which has been used. */
  const openBehind = async (fields: Partial<PostgresStoreOptions> = {}) => {
    const proxy = await startProxy(server.port);
    onTestFinished(() => proxy.close());
    const url = server.url.replace(`:${server.port}`, `:${proxy.port}`);
    const store = await open({ url, lease, ...fields });
    const made = Array.from({ length: 8 }, () => execution());
    await Promise.all(made.map((each) => store.create(each)));
    await Promise.all(Array.from({ length: 8 }, () => store.state("none")));
    return { proxy, store, made };
  };
  const within = async (milliseconds: number, work: Promise<unknown>) => {
    const from = performance.now();
    await work;
    expect(performance.now() - from).toBeLessThan(milliseconds);
  };

  test("delay no heartbeat, commit, read or claim for as long as the lease", async () => {
    const { proxy, store, made } = await openBehind();
    proxy.silence();
    const key = randomUUID();
    const claim = { owner: "here", key, workflowIds: ["none"], suspects: false, suspectAfter: 2, limit: 1 };
    await Promise.all([
      within(lease, store.heartbeat({ owner: "here", lease })),
      ...made.map((each) => within(lease, store.commit(commitOf(each, 1)))),
      ...made.map(({ executionId }) => within(lease, store.state(executionId))),
      within(lease, store.claimAbandoned(claim)),
    ]);
    for (const { executionId } of made)
      expect(await store.state(executionId)).toMatchObject({ execution: { sequence: 2 } });
  });

  test("that no statement waits on are not handed out one after the other", async () => {
    const { proxy, store } = await openBehind({ readers: 8 });
    proxy.silence();
    await within(lease, store.state("none"));
    await within(lease / 4, Promise.all(Array.from({ length: 7 }, () => store.state("none"))));
  });

  test("delay no hint for long", async () => {
    const { proxy, store } = await openBehind();
    const heard: (ReadonlySet<string> | undefined)[] = [];
    store.clusterChannel?.listen({
      wrote: (executionIds) => heard.push(executionIds),
      offered: () => undefined,
      stop: () => undefined,
    });
    proxy.silence();
    // It has begun to listen again: something may have been missed.
    await within(lease, expect.poll(() => heard, { timeout: lease }).toContain(undefined));
    const other = await open();
    await other.heartbeat({ owner: "there", lease });
    await expect
      .poll(async () => {
        await other.create(execution());
        return heard.some((ids) => ids !== undefined);
      })
      .toBe(true);
  });

  test("are distinguished from those whose statement takes long", async () => {
    const { store, made } = await openBehind({ lease: 800 });
    await admin.query(`create sequence bounds.tries;
      create function bounds.slow() returns trigger language plpgsql as $$
        begin perform nextval('bounds.tries'), pg_sleep(1.2); return new; end $$;
      create trigger slow before insert on bounds.journal for each row execute function bounds.slow()`);
    onTestFinished(async () => void (await admin.query("drop trigger slow on bounds.journal")));
    const [first] = made;
    if (first === undefined) throw new Error("none was made");
    expect(await store.commit(commitOf(first, 1))).toMatchObject({ kind: "ok" });
    const { rows } = await admin.query("select last_value::integer as tries from bounds.tries");
    expect(rows).toEqual([{ tries: 1 }]);
    // Also where the database does not track running queries.
    for (const url of [server.url, `${server.url}?options=-c%20track_activities%3Doff`]) {
      const watch = new SilenceWatch({ servers: serversOf(url), ...limits }, 250);
      const readers = new Readers({ servers: serversOf(url), ...limits }, 1, { idle: 400, lock: 150 }, watch);
      const [row] = await readers.read("select pg_backend_pid() as before, pg_sleep(1)", []);
      expect(await readers.read("select pg_backend_pid() as before, pg_sleep(0)", [])).toEqual([row]);
      await readers.close();
      watch.close();
    }
  });

  test("end a start that waits for the migration of another node, which may take long", async () => {
    const other = new pg.Client(server.url);
    await other.connect();
    onTestFinished(() => other.end());
    await other.query("begin; select pg_advisory_xact_lock(1634624116, hashtext('cut'))");
    const proxy = await startProxy(server.port);
    onTestFinished(() => proxy.close());
    const url = server.url.replace(`:${server.port}`, `:${proxy.port}`);
    const opening = open({ url, schema: "cut", lease: 800 });
    opening.catch(() => undefined);
    const waiting = `select from pg_stat_activity where wait_event = 'advisory'
      and query_start < clock_timestamp() - interval '1.5 s'`;
    await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(1);
    proxy.silence();
    // The database, which is reached by a new connection, still runs the statement until its own end of the old one is closed.
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'advisory'");
    await within(3_000, expect(opening).rejects.toMatchObject({ code: "store-open" }));
  });
});

test("reads of callers are refused while too many wait, reads of the engine are not", async () => {
  const store = await open({ connectTimeout: 60_000 });
  const heads = Array.from({ length: 5_200 }, () => store.heads(["none"]));
  await expect(store.state("none")).rejects.toMatchObject({ code: "store-busy" });
  expect(await Promise.all(heads)).toHaveLength(5_200);
  expect(await store.state("none")).toBeUndefined();
});

test("a column that a later release adds does not break prepared statements", async () => {
  const store = await open({ readers: 1 });
  const made = execution();
  await store.create(made);
  const key = randomUUID();
  const read = async () => [
    await store.state(made.executionId),
    await store.conversations.read({ conversationId: key }),
    await store.conversations.messages({ conversationId: key, after: 0, limit: 5 }),
    await store.observations.trace(key),
  ];
  const before = await read();
  for (const table of ["executions", "conversations", "messages", "trace_roots", "span_chunks"])
    await admin.query(`alter table bounds.${table} add column later text`);
  expect(await read()).toEqual(before);
});

test("large events and spans do not cross a connection for the time of one, or beyond a page", async () => {
  const store = await open();
  const made = execution();
  await store.create(made);
  const large = JSON.stringify("\u0000\ud800x".repeat(100_000));
  const events = [event("step-1"), { ...event("step-2", large), timestamp: 5_000, detail: large }];
  await store.commit(commitOf(made, 1, { events }));
  const facts = new GroupFacts("bounds");
  facts.requests.timeOf(made.executionId, 3);
  const readers = new Readers({ servers: serversOf(server.url), ...limits }, 1, { idle: 1_000, lock: 1_000 });
  let read = 0;
  await readers.once((query) =>
    facts.read(async (statement, values) => {
      const result = await query(statement, values);
      read += JSON.stringify(result.rows).length;
      return result;
    }),
  );
  await readers.close();
  expect(facts.facts.timeOf(made.executionId, 3)).toBe(5_000);
  expect(read).toBeLessThan(1_000);
  const spans = JSON.stringify("x".repeat(1_000_000));
  const chunks = Array.from({ length: 12 }, (_, n) => ({
    traceId: "large",
    rootSpanId: "s",
    timestamp: n,
    spans,
  }));
  await store.observations.append({ logs: [], roots: [], chunks });
  const { rows } = await admin.query(spansElsewhereStatement("bounds"), [0, "another", 200]);
  expect(rows.map(({ timestamp }) => Number(timestamp))).toEqual([11, 10, 9, 8, 7, 6, 5, 4]);
});

test("a lane that is busy when it closes refuses the remaining writes", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const address = silent.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const url = `postgres://nobody:nothing@127.0.0.1:${address.port}/postgres`;
  const lane = new Lane({
    connection: new Connection({ servers: serversOf(url), ...limits, connectTimeout: 300 }),
    schema: "bounds",
    timeouts: { idle: 100, lock: 100 },
    written: () => {},
    healed: () => {},
    giveBack: () => {},
  });
  const connected = once(silent, "connection");
  const refused = new Promise<Error>((reject) =>
    lane.add({
      operation: "commit",
      length: 0,
      executionId: "one",
      does: { creation: { execution: execution(), resolve: () => {} } },
      isIntake: false,
      reject,
    }),
  );
  await connected;
  await lane.close(1);
  expect(await refused).toMatchObject({ code: "store-unavailable" });
  silent.close();
});
