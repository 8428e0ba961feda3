// Processes on one database notify each other of their writes.
import { randomUUID } from "node:crypto";
import type { NewExecution, Store } from "@andante/core/store";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

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
const open = async (fields: { listenUrl?: string | false } = {}): Promise<Store> => {
  const store = postgresStore({ url: server.url, schema: "hints", ...fields });
  await store.open();
  opened.push(store);
  await store.heartbeat({ owner: randomUUID(), lease: 60_000 });
  return store;
};
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

function execution(): NewExecution {
  return {
    executionId: randomUUID(),
    workflowId: "w",
    input: null,
    context: "{}",
    userId: null,
    conversationId: null,
    startAt: 1,
    timeoutAt: null,
    claim: { owner: "here", token: randomUUID() },
    events: [],
  };
}

/** The notifications of a store, from the moment that it listens. */
async function hearing(store: Store) {
  const ids = new Set<string>();
  const stopped: string[] = [];
  let lost = 0;
  let offers = 0;
  store.clusterChannel?.listen({
    wrote: (executionIds) => {
      if (executionIds === undefined) lost++;
      for (const id of executionIds ?? []) ids.add(id);
    },
    offered: () => offers++,
    stop: (executionId) => stopped.push(executionId),
  });
  return { ids, stopped, lost: () => lost, offers: () => offers };
}

/** Writes until each of them has received a hint: it takes a moment until they listen. */
async function heardFirst(writing: Store, all: readonly ({ readonly ids: Set<string> } | undefined)[]) {
  const write = async () => {
    await writing.create(execution());
    return all.every((heard) => heard !== undefined && heard.ids.size > 0);
  };
  await expect.poll(write).toBe(true);
}

describe("hints", () => {
  test("give every other process the ids of written executions, and never oneself", async () => {
    const [one, two, three] = [await open(), await open(), await open()];
    const heard = [await hearing(one), await hearing(two), await hearing(three)];
    const made = execution();
    await heardFirst(one, [heard[1], heard[2]]);
    await one.create(made);
    await expect.poll(() => heard[1]?.ids).toContain(made.executionId);
    await expect.poll(() => heard[2]?.ids).toContain(made.executionId);
    expect(heard[0]?.ids).not.toContain(made.executionId);
    two.clusterChannel?.askToStop(made.executionId);
    await expect.poll(() => heard[0]?.stopped).toEqual([made.executionId]);
    expect(heard[1]?.stopped).toEqual([]);
  });

  test("report claims that a process releases when it stops, and its end", async () => {
    const [one, two] = [await open(), await open()];
    const heard = await hearing(two);
    const made = execution();
    const { executionId, claim } = made;
    await heardFirst(one, [heard]);
    await one.create(made);
    await one.release({ executionId, token: claim.token });
    await expect.poll(() => heard.ids).toContain(executionId);
    expect(heard.offers()).toBe(0);
    await one.release({ executionId, token: claim.token, offer: true });
    await expect.poll(() => heard.offers()).toBe(1);
    await one.close();
    await expect.poll(() => heard.offers()).toBe(2);
  });

  test("say that some may be lost when the connection was cut, and go on", async () => {
    const [one, two] = [await open(), await open()];
    const heard = await hearing(two);
    await heardFirst(one, [heard]);
    const before = heard.lost();
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'");
    await expect.poll(() => heard.lost()).toBeGreaterThan(before);
    heard.ids.clear();
    await heardFirst(one, [heard]);
  });

  test("without a channel to listen on, ask for looks from time to time", async () => {
    const heard = await hearing(await open({ listenUrl: false }));
    await expect.poll(() => heard.lost()).toBeGreaterThan(0);
  });

  test("of very many executions say only that there were some", async () => {
    const [one, two] = [await open(), await open()];
    const heard = await hearing(two);
    await heardFirst(one, [heard]);
    const before = heard.lost();
    await Promise.all(Array.from({ length: 2_000 }, () => one.create(execution())));
    await expect.poll(() => heard.lost() + heard.ids.size).toBeGreaterThan(before + 10);
  });
});
