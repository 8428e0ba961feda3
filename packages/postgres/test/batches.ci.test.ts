// Sends of events and changes of schedules that share a transaction: one of them does not harm the others.
import { randomUUID } from "node:crypto";
import type { SendSignal, Store, StoredSchedule } from "@andante/core/store";
import { type PostgresStoreOptions, postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { execution } from "./write-kit.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ max_connections: 30 });
});
afterAll(() => server.remove());

const opened: Store[] = [];
const open = async (fields: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
  const store = postgresStore({ url: server.url, schema: "batches", ...fields });
  await store.open();
  opened.push(store);
  return store;
};
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

const signalOf = (fields: Partial<SendSignal> = {}): SendSignal => ({
  ...{ signalId: randomUUID(), scope: "", name: "order.paid", key: randomUUID(), data: "{}", userId: null },
  ...{ sentBy: null, sentAt: 1000, starts: [], dueAt: 2000, ...fields },
});
const rowOf = (scheduleId: string, fields: Partial<StoredSchedule> = {}): StoredSchedule => ({
  ...{ scheduleId, kind: "schedule", workflowId: "w", agentId: null, userId: null, dueAt: null },
  ...{ version: randomUUID(), body: "{}", occurrences: "[]", ...fields },
});

test("a row that another client keeps locked holds up the change of its own schedule alone", async () => {
  const store = await open();
  const rows = Array.from({ length: 60 }, () => rowOf(randomUUID()));
  const write = (row: StoredSchedule, expected: string | null) =>
    store.schedules.change({ scheduleId: row.scheduleId, expected, row });
  await Promise.all(rows.map((row) => write(row, null)));
  const other = new pg.Client(server.url);
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("begin");
  const [locked, ...others] = rows;
  await other.query("select from batches.schedules where schedule_id = $1 for update", [locked?.scheduleId]);
  const next = (row: StoredSchedule) => write({ ...row, version: randomUUID() }, row.version);
  const held = Promise.allSettled(locked === undefined ? [] : [next(locked)]);
  const from = performance.now();
  const results = await Promise.allSettled(others.map(next));
  expect(new Set(results.map((each) => (each.status === "fulfilled" ? each.value : each.reason)))).toEqual(
    new Set(["written"]),
  );
  expect(performance.now() - from).toBeLessThan(2_500);
  expect((await held)[0]).toMatchObject({ status: "rejected", reason: { code: "store-unavailable" } });
});

test("events that have waited for a lock for long cost no connection", async () => {
  const [first, second] = [await open(), await open({ readers: 1 })];
  const other = new pg.Client(server.url);
  await other.connect();
  onTestFinished(() => other.end());
  await second.schedules.read("none");
  const processes = async () =>
    (await other.query("select pid from pg_stat_activity where client_port is not null")).rows;
  const before = await processes();
  await other.query("begin");
  await other.query("lock table batches.signals in access exclusive mode");
  const held = first.signals.send([signalOf({ key: "k" })]);
  const locks = `select (classid::bigint << 32) | objid::bigint as lock from pg_locks
    where locktype = 'advisory' and mode = 'ExclusiveLock' and granted`;
  await expect.poll(async () => (await other.query(locks)).rows).toHaveLength(1);
  const [{ lock }] = (await other.query(locks)).rows;
  await other.query("commit");
  await held;
  await other.query("begin");
  await other.query("select pg_advisory_xact_lock($1)", [lock]);
  await expect(second.signals.send([signalOf({ key: "k" })])).rejects.toMatchObject({
    code: "store-unavailable",
  });
  expect(await second.schedules.read("none")).toBeUndefined();
  await other.query("commit");
  expect(await processes()).toEqual(expect.arrayContaining(before));
  expect(await second.signals.send([signalOf({ key: "k" })])).toMatchObject([{ kind: "sent" }]);
});

test("a bad value and a conflict of one caller are those of that caller alone", async () => {
  const store = await open();
  const known = signalOf();
  await store.signals.send([known]);
  const good = Array.from({ length: 20 }, () => [signalOf(), signalOf()]);
  const bad = [
    [signalOf({ key: "a\u0000b" })],
    [signalOf({ signalId: "x".repeat(100_000) + randomUUID() + randomUUID() })],
    [signalOf({ name: "n\u0000" }), signalOf()],
  ];
  const conflict = [signalOf(), { ...known, data: "1" }];
  const large = [signalOf({ data: JSON.stringify("x".repeat(16_000_000)) })];
  const all = await Promise.allSettled(
    [...good, ...bad, conflict, large].map((given) => store.signals.send(given)),
  );
  const kinds = all.map((each) =>
    each.status === "rejected" ? each.reason.code : each.value.map(({ kind }) => kind).join(),
  );
  expect(kinds.slice(0, 20)).toEqual(good.map(() => "sent,sent"));
  expect(kinds.slice(20)).toEqual([...["store-refused", "sent", "store-refused"], "conflict", "sent"]);
  const [unkept] = conflict;
  expect(await store.signals.read({ scope: "", signalId: unkept?.signalId ?? "" })).toBeUndefined();
});

test("one id sent by many at once to two stores is kept once, and other data are refused", async () => {
  const stores = [await open(), await open()];
  for (let round = 0; round < 10; round++) {
    const signal = signalOf();
    const sent = await Promise.all(
      stores.flatMap((store) =>
        Array.from({ length: 30 }, (_, index) =>
          store.signals.send([signalOf(), index % 3 === 0 ? { ...signal, data: "1" } : signal]),
        ),
      ),
    );
    const kept = (await stores[0]?.signals.read({ scope: "", signalId: signal.signalId }))?.data;
    const kinds = sent.map((each, index) => {
      const isSame = ((index % 30) % 3 === 0 ? "1" : signal.data) === kept;
      return `${isSame} ${each.at(-1)?.kind}`;
    });
    expect(kinds.filter((kind) => kind === "true sent")).toHaveLength(1);
    expect(new Set(kinds)).toEqual(new Set(["true sent", "true duplicate", "false conflict"]));
  }
});

test("of two senders of two ids in opposite orders, with other keys, one is refused", async () => {
  const stores = [await open(), await open()];
  for (let round = 0; round < 20; round++) {
    const ids = [randomUUID(), randomUUID()];
    const [one, two] = await Promise.all(
      stores.map((store, index) =>
        store.signals.send((index === 0 ? ids : ids.toReversed()).map((signalId) => signalOf({ signalId }))),
      ),
    );
    const kinds = [one, two].map((sent) => [...new Set(sent?.map(({ kind }) => kind))].join());
    expect(kinds.toSorted()).toEqual(["conflict", "sent"]);
  }
});

test("senders of many events leave locks of the server to others", async () => {
  const store = await open();
  const other = new pg.Client(server.url);
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("begin; lock table batches.signals in exclusive mode");
  const many = Array.from({ length: 4 }, () =>
    store.signals.send(Array.from({ length: 1000 }, () => signalOf())),
  );
  const few = Array.from({ length: 20 }, () => store.signals.send([signalOf()]));
  const locks = async () => {
    const { rows } = await other.query("select count(*) from pg_locks where locktype = 'advisory'");
    return Number(rows[0]?.count);
  };
  // Those of one of the callers with many events and of the others, and the name for each of the two.
  await expect.poll(locks, { interval: 20, timeout: 3_000 }).toBe(1022);
  await other.query("rollback");
  const sent = await Promise.all([...many, ...few]);
  expect(sent.flat().every(({ kind }) => kind === "sent")).toBe(true);
});

/** Callers at once: `ANDANTE_MANY=100` has so many. */
const callers = Number(process.env.ANDANTE_MANY ?? 20);

test("many callers with 1000 events each on two stores are served, and their numbers are in order", {
  timeout: 240_000,
}, async () => {
  const stores = [await open(), await open()];
  const sent = await Promise.all(
    stores.flatMap((store) =>
      Array.from({ length: callers / 2 }, () =>
        store.signals.send(Array.from({ length: 1000 }, () => signalOf())),
      ),
    ),
  );
  for (const each of sent) {
    const numbers = each.map(({ row }) => row.seq);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(each.every(({ kind }) => kind === "sent")).toBe(true);
  }
});

test("schedules of two stores that create one execution: one does, the others find it", async () => {
  const stores = [await open(), await open()];
  for (let round = 0; round < 10; round++) {
    const executionId = randomUUID();
    const rows = Array.from({ length: 10 }, () => rowOf(randomUUID()));
    const changes = rows.map((row, index) => {
      const create = execution({ executionId });
      return stores[index % 2]?.schedules.change({ scheduleId: row.scheduleId, expected: null, row, create });
    });
    // Beside others of the same moment.
    const gone = rowOf(randomUUID());
    const stale = stores[0]?.schedules.change({ scheduleId: gone.scheduleId, expected: "v", row: gone });
    const results = await Promise.all(changes);
    expect(results.toSorted()).toEqual([...Array<string>(9).fill("exists"), "written"]);
    expect(await stale).toBe("changed");
    for (const [index, { scheduleId }] of rows.entries())
      expect((await stores[0]?.schedules.read(scheduleId)) !== undefined).toBe(results[index] === "written");
  }
});

test("changes and events are kept once where every connection is cut again and again", {
  timeout: 60_000,
}, async () => {
  const store = await open();
  const admin = new pg.Client(server.url);
  await admin.connect();
  onTestFinished(() => admin.end());
  let going = true;
  const cutting = (async () => {
    while (going) {
      await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'andante' and pid <> pg_backend_pid()",
      );
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  })();
  const calls = Array.from({ length: 40 }, async () => {
    let row = rowOf(randomUUID());
    expect(await store.schedules.change({ scheduleId: row.scheduleId, expected: null, row })).toBe("written");
    for (let step = 0; step < 10; step++) {
      const next = { ...row, version: randomUUID() };
      const create = execution();
      const change = { scheduleId: row.scheduleId, expected: row.version, row: next, create };
      expect(await store.schedules.change(change)).toBe("written");
      row = next;
      const signal = signalOf();
      const [sent] = await store.signals.send([signal]);
      expect(["sent", "duplicate"]).toContain(sent?.kind);
    }
    await store.schedules.change({ scheduleId: row.scheduleId, expected: row.version, row: null });
    expect(await store.schedules.read(row.scheduleId)).toBeUndefined();
  });
  await Promise.all(calls).finally(() => {
    going = false;
  });
  await cutting;
});
