// Behind a pooler that shares connections between transactions everything works; hints need the database's own address.
import type { Store } from "@andante/core/store";
import { type PostgresStoreOptions, postgresStore } from "@andante/postgres";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { startPooler, type TransactionPooler } from "./transaction-pooler.ts";
import { commitOf, event, execution } from "./write-kit.ts";

let server: PostgresServer;
let pooler: TransactionPooler;
beforeAll(async () => {
  server = await startPostgres();
  const user = { user: "postgres", password: "password", database: "postgres" };
  pooler = await startPooler({ port: server.port, ...user, connections: 3 });
});
afterAll(async () => {
  await pooler.close();
  await server.remove();
});

const opened: Store[] = [];
const pooled = () => server.url.replace(String(server.port), String(pooler.port));
const open = async (fields: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
  const store = postgresStore({ url: pooled(), schema: "pooled", ...fields });
  await store.open();
  opened.push(store);
  return store;
};
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

/** Fifty executions of five commits each on two nodes, each paused and resumed by the other one. */
async function work(one: Store, two: Store): Promise<void> {
  await one.heartbeat({ owner: "here", lease: 60_000 });
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const made = execution({ tags: ["a"] });
      const { executionId } = made;
      await one.create(made);
      for (let number = 1; number <= 3; number++) await one.commit(commitOf(made, number));
      const gate = { path: "gate", stepIndex: 0, reason: "", data: null, suspendedAt: 1 };
      const suspension = { ...gate, suspensionId: executionId, deadline: null, onDeadline: null };
      await one.commit(commitOf(made, 4, { open: [suspension] }));
      const resumed = await two.resume({
        executionId,
        suspensionIds: [executionId],
        rewind: null,
        events: [event("workflow-resumed")],
        claim: { owner: "there", token: "another" },
        byDeadline: false,
      });
      expect(resumed.kind).toBe("owned");
      const end = { status: "completed", result: "1", error: null } as const;
      expect(await one.commit(commitOf(made, 5, { end }))).toEqual({ kind: "ok", sequence: 7, idle: false });
      const state = await two.state(executionId);
      expect(state?.execution).toMatchObject({ status: "completed", sequence: 7, result: "1" });
      expect(await two.events({ executionId, after: 0, limit: 100 })).toHaveLength(7);
    }),
  );
  expect(await two.list({ limit: 50, tag: "a" })).toHaveLength(50);
  expect(await two.due({ workflowIds: ["publish"], limit: 5 })).toEqual([]);
  expect((await one.health()).problem).toBeNull();
}

test("everything works", async () => {
  await work(await open(), await open());
});

test("also where a host insists on prepared statements: the store notices that they are lost", async () => {
  await work(
    await open({ prepare: true, schema: "insisting" }),
    await open({ prepare: true, schema: "insisting" }),
  );
});

test("hints arrive at the database's own address; without it listeners are asked to look", async () => {
  const [direct, looking, writing] = [await open({ listenUrl: server.url }), await open(), await open()];
  await writing.heartbeat({ owner: "writing", lease: 60_000 });
  await direct.heartbeat({ owner: "direct", lease: 60_000 });
  await writing.heartbeat({ owner: "writing", lease: 60_000 });
  const heard = new Set<string>();
  let looks = 0;
  direct.clusterChannel?.listen({
    wrote: (ids) => {
      for (const id of ids ?? []) heard.add(id);
    },
    offered: () => {},
    stop: () => {},
  });
  looking.clusterChannel?.listen({
    wrote: (ids) => void (ids ?? looks++),
    offered: () => {},
    stop: () => {},
  });
  const write = async () => {
    await writing.create(execution());
    return heard.size;
  };
  await expect.poll(write).toBeGreaterThan(0);
  await expect.poll(() => looks).toBeGreaterThan(1);
});
