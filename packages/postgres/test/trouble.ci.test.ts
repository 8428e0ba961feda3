// The database stops, loses connections, has none left or refuses an item: nothing that was accepted is lost or repeated.
import { randomBytes, randomUUID } from "node:crypto";
import type { NewExecution, Store } from "@andante/core/store";
import { type PostgresStoreOptions, postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { commitOf, event, execution } from "./write-kit.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ max_connections: 30 });
});
afterAll(() => server.remove());

const opened: Store[] = [];
const open = async (fields: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
  const store = postgresStore({ url: server.url, schema: "trouble", ...fields });
  await store.open();
  opened.push(store);
  await store.heartbeat({ owner: "here", lease: 60_000 });
  return store;
};
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

const asAdmin = async <Value>(work: (client: pg.Client) => Promise<Value>): Promise<Value> => {
  const client = new pg.Client(server.url);
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** Executions that commit one after the other until the test ends them; counts the commits. */
async function load(store: Store, count: number) {
  const made: NewExecution[] = [];
  for (let index = 0; index < count; index++) {
    const one = execution();
    await store.create(one);
    made.push(one);
  }
  let going = true;
  let commits = 0;
  const numbers = new Map<string, number>();
  const runs = made.map(async (one) => {
    let number = 0;
    while (going) {
      const result = await store.commit(commitOf(one, ++number));
      expect(result).toEqual({ kind: "ok", sequence: number + 1, idle: false });
      numbers.set(one.executionId, number);
      commits++;
    }
  });
  return {
    commits: () => commits,
    async end() {
      going = false;
      await Promise.all(runs);
      for (const [executionId, number] of numbers) {
        const events = await store.events({ executionId, after: 0, limit: 100_000 });
        expect(events.map(({ type }) => type)).toEqual([
          "workflow-start",
          ...Array.from({ length: number }, (_, index) => `step-${index + 1}`),
        ]);
      }
    },
  };
}

describe("a database in trouble", () => {
  test("that restarts under load loses nothing and repeats nothing", async () => {
    const store = await open();
    const running = await load(store, 20);
    for (let round = 0; round < 2; round++) {
      const before = running.commits();
      await expect.poll(() => running.commits()).toBeGreaterThan(before + 100);
      await server.stop();
      await server.start();
    }
    const before = running.commits();
    await expect.poll(() => running.commits()).toBeGreaterThan(before + 100);
    await running.end();
    expect((await store.health()).problem).toBeNull();
  });

  test("that loses every connection again and again loses nothing and repeats nothing", async () => {
    const store = await open();
    const running = await load(store, 20);
    await asAdmin(async (client) => {
      for (let round = 0; round < 15; round++) {
        const before = running.commits();
        await client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'andante'",
        );
        await expect.poll(() => running.commits()).toBeGreaterThan(before);
      }
    });
    await running.end();
  });

  test("while it is down refuses callers with 503, lets commits wait, reports a reason without names, and heals", async () => {
    const store = await open();
    const made = execution();
    await store.create(made);
    await server.stop();
    const waiting = store.commit(commitOf(made, 1));
    const unavailable = { code: "store-unavailable", status: 503, retryAfter: 2 };
    await expect(store.create(execution())).rejects.toMatchObject(unavailable);
    await expect(store.state(made.executionId)).rejects.toMatchObject(unavailable);
    await expect(store.heartbeat({ owner: "here", lease: 1_000 })).rejects.toMatchObject(unavailable);
    const { problem } = await store.health();
    expect(problem).toBe("the database does not accept connections");
    await server.start();
    expect(await waiting).toEqual({ kind: "ok", sequence: 2, idle: false });
    await expect.poll(async () => (await store.health()).problem).toBeNull();
    await store.create(execution());
  });

  test("without a connection left waits for one", async () => {
    await asAdmin(async (client) => {
      await client.query("create role limited login password 'limited'");
      await client.query("grant create on database postgres to limited");
    });
    const url = server.url.replace("postgres:password", "limited:limited");
    const store = await open({ url, schema: "limited" });
    const made = execution();
    await store.create(made);
    await asAdmin(async (client) => {
      await client.query("alter role limited connection limit 0");
      await client.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'limited'");
      const waiting = store.commit(commitOf(made, 1));
      const problem = async () => (await store.health()).problem;
      await expect.poll(problem).toBe("the database has no connection left");
      await client.query("alter role limited connection limit -1");
      expect(await waiting).toMatchObject({ kind: "ok", sequence: 2 });
    });
  });

  test("an item that is refused fails alone", async () => {
    const store = await open();
    const good = Array.from({ length: 30 }, () => execution());
    const bad = [
      execution({ executionId: "a\u0000b" }),
      execution({ userId: "\u0000" }),
      execution({ executionId: randomBytes(10_000).toString("hex") }),
    ];
    const results = await Promise.allSettled(
      [...good.slice(0, 10), ...bad, ...good.slice(10)].map((each) => store.create(each)),
    );
    const refused = results.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(3);
    for (const each of refused)
      expect(each).toMatchObject({
        reason: { code: "store-refused", message: expect.stringMatching("create") },
      });
    for (const { executionId } of good) expect(await store.state(executionId)).toBeDefined();
    expect(await store.state("a\u0000b")).toBeUndefined();
    const [one] = good;
    if (one === undefined) throw new Error("none was made");
    const timers = [{ path: "\u0000", dueAt: 5 }];
    await expect(store.commit(commitOf(one, 1, { timers }))).rejects.toMatchObject({ code: "store-refused" });
    expect(await store.commit(commitOf(one, 1))).toMatchObject({ kind: "ok", sequence: 2 });
  });

  test("a node that froze in a transaction does not hold the others up for long", async () => {
    const store = await open({ statementTimeout: 1_500 });
    const made = execution();
    await store.create(made);
    const frozen = new pg.Client(server.url);
    frozen.on("error", () => {});
    await frozen.connect();
    await frozen.query("begin; set local idle_in_transaction_session_timeout = 500");
    await frozen.query("select from trouble.executions where execution_id = $1 for update", [
      made.executionId,
    ]);
    expect(await store.commit(commitOf(made, 1))).toMatchObject({ kind: "ok", sequence: 2 });
    await frozen.end().catch(() => {});
  });

  test("accepted writes are written before it closes", async () => {
    const store = postgresStore({ url: server.url, schema: "trouble" });
    await store.open();
    const made = Array.from({ length: 200 }, () => execution());
    const created = Promise.all(made.map((each) => store.create(each)));
    await store.close();
    expect((await created).every((each) => each.created)).toBe(true);
    const other = await open();
    for (const { executionId } of made) expect(await other.state(executionId)).toBeDefined();
  });

  test("two nodes that write to the same executions at once neither lose nor repeat an event", async () => {
    const [one, two] = [await open(), await open()];
    const made = Array.from({ length: 20 }, () => execution());
    for (const each of made) await one.create(each);
    const suspension = (executionId: string) => ({
      executionId,
      suspension: {
        suspensionId: randomUUID(),
        path: null,
        reason: "",
        data: null,
        suspendedAt: 1,
        deadline: null,
        onDeadline: null,
      },
      event: event("workflow-suspended"),
    });
    await Promise.all(
      made.flatMap((each) => [
        ...Array.from({ length: 5 }, (_, n) => one.commit(commitOf(each, n + 1))),
        two.pause(suspension(each.executionId)),
      ]),
    );
    for (const { executionId } of made) {
      const events = await two.events({ executionId, after: 0, limit: 100 });
      expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(events.filter(({ type }) => type.startsWith("step-")).map(({ type }) => type)).toEqual([
        "step-1",
        "step-2",
        "step-3",
        "step-4",
        "step-5",
      ]);
    }
  });
});
