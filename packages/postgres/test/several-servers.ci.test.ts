// An address that names two servers of one database, without a proxy in front of them: the nodes use the one that accepts
// writes, and continue on the replica once it has been promoted.
import { createAndante, createWorkflow } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Connection } from "../src/connection/connection.ts";
import { Readers } from "../src/connection/readers.ts";
import { Servers } from "../src/connection/servers.ts";
import { addressesIn } from "../src/options.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { type StandbyServer, startStandby } from "./standby-server.ts";

let primary: PostgresServer;
let standby: StandbyServer;
/** The replica first: the order of the servers does not count. */
let url: string;
beforeAll(async () => {
  primary = await startPostgres({ max_connections: 100 });
  standby = await startStandby(primary);
  const { port } = new URL(standby.url);
  url = primary.url.replace("@127.0.0.1:", `@127.0.0.1:${port},127.0.0.1:`);
});
afterAll(async () => {
  await standby.remove();
  await primary.remove();
});

const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) })
  .andThen({ id: "double", execute: ({ data }) => ({ n: data.n * 2 }) })
  .andThen({
    id: "gate",
    resumeSchema: z.object({ more: z.number() }),
    execute: ({ data, suspend, resumeData }) =>
      resumeData === undefined ? suspend("how much more?") : { n: data.n + resumeData.more },
  });

async function startNode() {
  const store = postgresStore({ url, schema: "several", lease: 2_000, connectTimeout: 1_000 });
  const node = createAndante({ store, workflows: { double }, logs: { level: "error" } });
  onTestFinished(() => node.close({ grace: 0 }));
  await node.ready();
  return node;
}

test("nodes continue on the promoted replica, lose nothing, and open there", async () => {
  const [a, b] = [await startNode(), await startNode()];
  const waiting = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const { executionId, status } = await (n % 2 === 0 ? a : b).execute("double", { n });
      expect(status).toBe("suspended");
      return executionId;
    }),
  );
  primary.kill();
  await standby.promote();
  // Every commit waited for the replica, so all of them are there; each is resumed on the other node.
  const resumed = await Promise.all(
    waiting.map((executionId, n) => (n % 2 === 0 ? b : a).resume("double", executionId, { more: 1 })),
  );
  expect(resumed.map(({ result }) => result)).toEqual(waiting.map((_, n) => ({ n: n * 2 + 1 })));
  expect(await a.execute("double", { n: 4 })).toMatchObject({ status: "suspended" });
  const later = await startNode();
  expect(await later.execute("double", { n: 5 })).toMatchObject({ status: "suspended" });
});

const refuseWrites = async (value: "on" | "off") =>
  admin(`alter system set default_transaction_read_only = ${value}`);

test("opening fails with the reason when no server accepts writes", async () => {
  await refuseWrites("on");
  onTestFinished(() => refuseWrites("off"));
  const store = postgresStore({ url, schema: "several", connectTimeout: 1_000 });
  await expect(store.open()).rejects.toThrow("no server of the database accepts writes");
});

test("each new connection checks its server, also one that was found before", async () => {
  const connect = { connectTimeout: 1_000, statementTimeout: 5_000, prepare: undefined };
  const servers = new Servers(addressesIn(url), connect.connectTimeout);
  await servers.find();
  await refuseWrites("on");
  onTestFinished(() => refuseWrites("off"));
  const readers = new Readers({ servers, ...connect }, 1, { idle: 1_000, lock: 1_000 });
  onTestFinished(() => readers.close());
  await expect(readers.read("select 1", [])).rejects.toThrow("The store is not available");
  expect(servers.isKnown).toBe(false);
  const connection = new Connection({ servers, ...connect });
  onTestFinished(() => connection.close());
  await expect(connection.query()).rejects.toMatchObject({ code: "25006" });
  await refuseWrites("off");
  expect(await readers.read("select 1 as one", [])).toEqual([{ one: 1 }]);
});

async function admin(statement: string): Promise<void> {
  const client = new pg.Client(standby.url);
  await client.connect();
  await client.query("set default_transaction_read_only = off");
  await client.query(statement);
  await client.query("select pg_reload_conf()");
  await client.end();
}
