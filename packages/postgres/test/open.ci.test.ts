// Opening a store: migrations, privileges, and clear words where it cannot be opened.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import type { Store } from "@andante/core/store";
import { type PostgresStoreOptions, postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Query } from "../src/connection/client.ts";
import { codeOf } from "../src/connection/trouble.ts";
import { migrate, readMigrations } from "../src/migrate.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { commitOf, execution } from "./write-kit.ts";

let server: PostgresServer;
let admin: pg.Client;
beforeAll(async () => {
  server = await startPostgres({ max_connections: 150 });
  admin = new pg.Client(server.url);
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

const opened: Store[] = [];
const open = async (fields: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
  const store = postgresStore({ url: server.url, ...fields });
  opened.push(store);
  await store.open();
  return store;
};
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
const as = (user: string, database = "postgres") =>
  server.url.replace("postgres:password", `${user}:secret`).replace(/postgres$/, database);

/** Every operation of a node, once. */
async function useOnce(store: Store): Promise<void> {
  await store.heartbeat({ owner: "here", lease: 1_000 });
  const made = execution({ tags: ["a"] });
  await store.create(made);
  await store.commit(commitOf(made, 1, { timers: [{ path: "nap", dueAt: 5 }] }));
  await store.commit(commitOf(made, 2, { end: { status: "completed", result: "1", error: null } }));
  await store.define({ definition: "d", outline: "[]" });
  await store.observations.append({
    logs: [],
    roots: [],
    chunks: [{ traceId: "t", rootSpanId: "s", timestamp: 1, spans: "[]" }],
  });
  await store.observations.trim({ logs: 9, traces: 9, limit: 9 });
  await store.approvals.secret("candidate");
  const upTo = { endAt: Number.MAX_SAFE_INTEGER, executionId: "~" };
  expect((await store.deleteFinished({ upTo, limit: 9, events: 99 })).executionIds).toHaveLength(1);
  const query = {
    owner: "here",
    key: "k",
    workflowIds: ["publish"],
    suspects: false,
    suspectAfter: 2,
    limit: 5,
  };
  await store.claimAbandoned(query);
  expect((await store.health()).problem).toBeNull();
}

describe("migrations", () => {
  test("run once when ten nodes start at the same time, in a schema of any name", async () => {
    const schema = 'Ten "nodes"; drop';
    const stores = await Promise.all(Array.from({ length: 10 }, () => open({ schema, readers: 2 })));
    for (const store of stores) await store.create(execution());
    const { rows } = await admin.query('select number from "Ten ""nodes""; drop".migrations order by number');
    expect(rows.map(({ number }) => number)).toEqual([1]);
  });

  test("of a later release run once when ten of its nodes start at the same time; nodes of this one continue", async () => {
    const name = "earlier";
    const store = await open({ schema: name });
    const made = execution();
    await store.create(made);
    const later = {
      number: 2,
      name: "0002-made-up.sql",
      statements: "alter table executions add column colour text; update executions set colour = 'red'",
      oldest: 1,
    };
    const migrations = [...readMigrations(), later];
    const clients = Array.from({ length: 10 }, () => new pg.Client(server.url));
    try {
      await Promise.all(
        clients.map(async (client) => {
          await client.connect();
          const query: Query = async (statement, values) => {
            const { rows, rowCount } = await client.query(statement, values && [...values]);
            return { rows, count: rowCount ?? 0 };
          };
          await migrate(query, { name, schema: name, migrate: true, migrations });
        }),
      );
    } finally {
      for (const client of clients) await client.end();
    }
    const { rows } = await admin.query("select number from earlier.migrations order by number");
    expect(rows.map(({ number }) => number)).toEqual([1, 2]);
    const kept = await admin.query("select execution_id, colour from earlier.executions");
    expect(kept.rows).toEqual([{ execution_id: made.executionId, colour: "red" }]);
    await useOnce(store);
    const other = await open({ schema: name });
    await useOnce(other);
    // Twice, like a write that is repeated because its result was lost.
    const chunks = [{ traceId: "t", rootSpanId: "s", timestamp: 16, spans: "[1]" }];
    for (const _ of [1, 2]) await store.observations.append({ logs: [], roots: [], chunks });
    expect(await other.observations.spansElsewhere?.({ from: 15, limit: 10 })).toMatchObject([
      { traceId: "t", spans: "[1]" },
    ]);
  });

  test("take as long as they need, beyond the statement timeout of the role", async () => {
    const migrator = new pg.Client(server.url);
    await migrator.connect();
    try {
      await migrator.query("set statement_timeout = 100");
      await migrator.query(
        "select set_config('transaction_timeout', '150', false) from pg_settings where name = 'transaction_timeout'",
      );
      const query: Query = async (statement, values) => {
        const { rows, rowCount } = await migrator.query(statement, values && [...values]);
        return { rows, count: rowCount ?? 0 };
      };
      const slow = { number: 1, name: "0001-slow.sql", oldest: 1, statements: "select pg_sleep(0.2)" };
      await migrate(query, { name: "slow", schema: "slow", migrate: true, migrations: [slow] });
      await expect(migrator.query("select pg_sleep(1)")).rejects.toMatchObject({ code: "57014" });
    } finally {
      await migrator.end();
    }
  });

  test("of another node are waited for longer than a statement and a lock of the role may take", async () => {
    await admin.query(`create role brief login password 'secret'; create schema brief authorization brief;
      alter role brief set lock_timeout = 50; alter role brief set statement_timeout = 50`);
    const other = new pg.Client(server.url);
    await other.connect();
    await other.query("begin");
    await other.query("select pg_advisory_xact_lock(1634624116, hashtext('brief'))");
    const opening = open({ url: as("brief"), schema: "brief", statementTimeout: 200 });
    opening.catch(() => undefined);
    try {
      const waiting = `select from pg_stat_activity where usename = 'brief' and wait_event = 'advisory'
        and xact_start < clock_timestamp() - interval '0.5 s'`;
      await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(1);
    } finally {
      await other.end();
    }
    await opening;
  });

  test("wait for a table that another client uses without keeping it from others", async () => {
    const name = "used";
    const migrations = readMigrations();
    const migrator = new pg.Client(server.url);
    const user = new pg.Client(server.url);
    for (const each of [migrator, user]) await each.connect();
    try {
      const query: Query = async (statement, values) => {
        const { rows, rowCount } = await migrator.query(statement, values && [...values]);
        return { rows, count: rowCount ?? 0 };
      };
      const how = { name, schema: name, migrate: true, lockPatience: 100 };
      const alters = { number: 999, name: "0999-alter.sql", oldest: 1 };
      const all = [...migrations, { ...alters, statements: "alter table owners add column more text" }];
      await migrate(query, { ...how, migrations });
      await user.query("begin; select from used.owners");
      await expect(migrate(query, { ...how, migrations: all, patience: 0 })).rejects.toMatchObject({
        code: "55P03",
      });
      let isDone = false;
      const migrating = migrate(query, { ...how, migrations: all }).finally(() => (isDone = true));
      const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and query ilike 'alter%'";
      for (const _ of [1, 2]) {
        await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(1);
        const from = performance.now();
        await admin.query("insert into used.owners values ('me', now()) on conflict do nothing");
        expect(performance.now() - from).toBeLessThan(1_000);
      }
      expect(isDone).toBe(false);
      await user.query("commit");
      await migrating;
      await admin.query("select more from used.owners");
    } finally {
      await migrator.end();
      await user.end();
    }
  });

  test("that a deadlock with another client ends are tried again", { timeout: 60_000 }, async () => {
    const name = "tangled";
    const migrations = readMigrations();
    const migrator = new pg.Client(server.url);
    const user = new pg.Client(server.url);
    for (const each of [migrator, user]) await each.connect();
    try {
      let deadlocks = 0;
      const query: Query = async (statement, values) => {
        const { rows, rowCount } = await migrator
          .query(statement, values && [...values])
          .catch((error: unknown) => {
            if (codeOf(error) === "40P01") deadlocks++;
            throw error;
          });
        return { rows, count: rowCount ?? 0 };
      };
      // The user waits until the migration has given up, which notices the circle first: it waited first.
      await migrator.query("set deadlock_timeout = 500");
      await user.query("set deadlock_timeout = 60000");
      const how = { name, schema: name, migrate: true, lockPatience: 30_000 };
      await migrate(query, { ...how, migrations });
      await user.query("begin; select from tangled.owners");
      const alters = "alter table definitions add column more text; alter table owners add column more text";
      const both = { number: 999, name: "0999-both.sql", oldest: 1, statements: alters };
      const migrating = migrate(query, { ...how, migrations: [...migrations, both] });
      migrating.catch(() => undefined);
      const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and query ilike 'alter%'";
      await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(1);
      await user.query("select from tangled.definitions");
      expect(deadlocks).toBe(1);
      await user.query("commit");
      await migrating;
      await admin.query("select more from tangled.owners");
    } finally {
      await migrator.end();
      await user.end();
    }
  });

  test("of a later release leave this one working, unless they say otherwise", async () => {
    const schema = "later";
    await open({ schema });
    await admin.query("insert into later.migrations (number, name, oldest) values (104, '0104-more.sql', 1)");
    const beside = await open({ schema });
    await useOnce(beside);
    await admin.query(
      "insert into later.migrations (number, name, oldest) values (105, '0105-other.sql', 105)",
    );
    await expect(open({ schema })).rejects.toMatchObject({
      code: "store-open",
      message: expect.stringContaining("use a newer release"),
    });
  });

  test("of a node that freezes meanwhile hold up the others only for a while", async () => {
    const frozen = new pg.Client(server.url);
    frozen.on("error", () => undefined);
    await frozen.connect();
    const stops = Promise.withResolvers<void>();
    const query: Query = async (statement, values) => {
      const { rows, rowCount } = await frozen.query(statement, values && [...values]);
      if (!statement.includes("pg_advisory_xact_lock")) return { rows, count: rowCount ?? 0 };
      stops.resolve();
      return new Promise<never>(() => undefined);
    };
    const name = "frozen";
    migrate(query, { name, schema: name, migrate: true, frozenAfter: 200 }).catch(() => undefined);
    await stops.promise;
    await open({ schema: name, statementTimeout: 5_000 });
    await frozen.end().catch(() => undefined);
  });

  test("that fail leave nothing behind", async () => {
    await admin.query("create schema half; create table half.timers (anything integer)");
    await expect(open({ schema: "half" })).rejects.toMatchObject({ code: "store-open" });
    const { rows } = await admin.query("select tablename from pg_tables where schemaname = 'half'");
    expect(rows).toEqual([{ tablename: "timers" }]);
  });
});

test("every write runs at READ COMMITTED, with any default of the role", async () => {
  await admin.query(`create role strict login password 'secret'; create schema strict authorization strict;
    alter role strict set default_transaction_isolation = serializable`);
  await open({ url: as("strict"), schema: "strict" });
  await admin.query(`create table strict_levels (level text); grant insert on strict_levels to strict;
    create function strict.note_level() returns trigger language plpgsql as $$
    begin
      insert into public.strict_levels values (tg_table_name || ': ' || current_setting('transaction_isolation'));
      return null;
    end $$`);
  const { rows } = await admin.query("select tablename from pg_tables where schemaname = 'strict'");
  for (const { tablename } of rows)
    await admin.query(`create trigger level after insert or update or delete on strict.${tablename}
      execute function strict.note_level()`);
  await useOnce(await open({ url: as("strict"), schema: "strict" }));
  const levels = (await admin.query("select distinct level from strict_levels")).rows;
  expect(levels.length).toBeGreaterThan(5);
  expect(levels.filter(({ level }) => !level.endsWith("read committed"))).toEqual([]);
});

describe("privileges", () => {
  test("a role that owns nothing but its schema can do everything", async () => {
    await admin.query("create role owner login password 'secret'; create schema owned authorization owner");
    await useOnce(await open({ url: as("owner"), schema: "owned" }));
  });

  test("a role that may only use tables can do everything but migrate", async () => {
    await admin.query(
      "create role migrator login password 'secret'; create role worker login password 'secret'",
    );
    await admin.query("create schema shared authorization migrator; grant usage on schema shared to worker");
    await expect(open({ url: as("worker"), schema: "shared", migrate: false })).rejects.toThrow(
      /lacks the migrations 1, and `migrate` is false/,
    );
    await open({ url: as("migrator"), schema: "shared" });
    await expect(open({ url: as("worker"), schema: "shared" })).rejects.toThrow(/lacks a privilege/);
    await admin.query("grant select, insert, update, delete on all tables in schema shared to worker");
    // Also where it is to migrate: there is nothing to do.
    await useOnce(await open({ url: as("worker"), schema: "shared" }));
    await useOnce(await open({ url: as("worker"), schema: "shared", migrate: false }));
  });
});

describe("the error of a store that cannot be opened gives the reason, without the password", () => {
  const messageOf = async (fields: Partial<PostgresStoreOptions>): Promise<string> => {
    const error = await open(fields).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "store-open" });
    const message = error instanceof Error ? error.message : "";
    expect(message).not.toMatch(/password@|wrong|secret/);
    return message;
  };

  test("a wrong password, an unknown database, no server", async () => {
    expect(await messageOf({ url: server.url.replace(":password", ":wrong") })).toContain(
      "the database refuses the password",
    );
    expect(await messageOf({ url: server.url.replace(/postgres$/, "nowhere") })).toContain(
      "the database does not exist",
    );
    expect(await messageOf({ url: "postgres://127.0.0.1:1/any" })).toContain("does not accept connections");
    await admin.query("create role poor login password 'secret'");
    expect(await messageOf({ url: as("poor"), schema: "poor" })).toContain("lacks a privilege");
  });

  test("a database with another encoding than UTF8", async () => {
    for (const encoding of ["LATIN1", "SQL_ASCII"]) {
      const name = encoding.toLowerCase();
      await admin.query(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
      expect(await messageOf({ url: server.url.replace(/postgres$/, name) })).toContain(
        `the database has the encoding ${encoding}, but UTF8 is needed`,
      );
    }
  });

  test("the location names the host, the database and the schema alone", () => {
    const store = postgresStore({ url: "postgres://ada:secret@db.example:6432/app?password=secret" });
    expect(store.location).toBe("postgres://db.example:6432/app (schema andante)");
  });

  test("a store that is open is not opened again", async () => {
    const store = await open();
    await expect(store.open()).rejects.toMatchObject({ code: "store-open" });
  });
});

test("opening and closing keep the process alive, also where the database is slow to end a connection", async () => {
  const target = new URL(server.url);
  // Passes everything on at once, and the end of a connection a little later.
  const slow = createServer({ allowHalfOpen: true }, (socket) => {
    const database = connect({ host: target.hostname, port: server.port, allowHalfOpen: true });
    socket.pipe(database);
    database.pipe(socket, { end: false });
    database.once("end", () => setTimeout(() => socket.end(), 300));
    for (const each of [socket, database]) each.on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(slow, "listening");
  const address = slow.address();
  target.port = String(typeof address === "object" && address !== null ? address.port : 0);
  const script = `
    import { postgresStore } from "@andante/postgres";
    const store = postgresStore({ url: ${JSON.stringify(target.href)}, schema: "slow end" });
    await store.open();
    await store.heartbeat({ owner: "here", lease: 1000 });
    await store.state("none");
    await store.close();
    console.log("closed");`;
  const args = ["--conditions=andante-source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  slow.close();
  expect({ output, code }).toEqual({ output: "closed\n", code: 0 });
});
