// Several nodes delete old executions in one database at once: all of them, no others, and none serves them any more.
import { Agent, type Andante, type AndanteOptions, createAndante, createWorkflow } from "@andante/core";
import { RecordingLogger, scriptedModel } from "@andante/core/test";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

let server: PostgresServer;
let admin: pg.Client;
const nodes: Andante[] = [];
const lines = new RecordingLogger();
beforeAll(async () => {
  server = await startPostgres({ max_connections: 100 });
  admin = new pg.Client(server.url);
  await admin.connect();
});
afterAll(async () => {
  for (const node of nodes) await node.close({ grace: 0 });
  await admin.end();
  await server.remove();
});

const released = Promise.withResolvers<void>();
const late = async () => {
  await released.promise;
  return "late";
};
const clerk = new Agent({ id: "clerk", model: scriptedModel([late, "soon"]) });

const kinds = ["ends", "runs", "waits"] as const;
const kept = createWorkflow({ id: "kept", input: z.object({ kind: z.enum(kinds), n: z.number() }) }).andThen({
  id: "work",
  execute: async ({ input, resumeData, suspend }) => {
    if (input.kind === "runs") await released.promise;
    return input.kind === "waits" && resumeData === undefined ? suspend() : input.n;
  },
});
const nap = createWorkflow({ id: "nap", input: z.unknown() }).andSleep({ id: "sleep", duration: "1h" });
/** Its journal is deleted in several parts. */
const long = createWorkflow({ id: "long", input: z.unknown() }).andForEach({
  id: "each",
  items: () => Array.from({ length: 600 }, (_, index) => index),
  concurrency: 100,
  step: (chain) => chain.andThen({ id: "one", execute: ({ data }) => data }),
});

function node(retention: AndanteOptions["retention"] = {}): Andante {
  const store = postgresStore({ url: server.url, schema: "old" });
  const workflows = { kept, nap, long };
  const made = createAndante({ store, workflows, agents: { clerk }, logger: lines, retention });
  nodes.push(made);
  return made;
}

const countOf = async (rows: string, values: readonly unknown[] = []): Promise<number> => {
  const { rows: found } = await admin.query(`select count(*)::integer as count from ${rows}`, [...values]);
  return z.object({ count: z.int() }).parse(found[0]).count;
};

const day = 86_400_000;
const makeOld = (executionIds: readonly string[]) =>
  admin.query("update old.executions set end_at = end_at - $2 where execution_id = any($1)", [
    executionIds,
    2 * day,
  ]);

/** The old and the young, the ended and those that live, on one node. */
async function populate(node: Andante) {
  const executed = async (count: number) => {
    const results = Array.from({ length: count }, (_, n) => node.execute("kept", { kind: "ends", n }));
    return (await Promise.all(results)).map(({ executionId }) => executionId);
  };
  const started = async (workflowId: "kept" | "nap", input: { kind: "runs" | "waits"; n: number }) => {
    const starts = Array.from({ length: 5 }, () => node.start(workflowId, input));
    return (await Promise.all(starts)).map(({ executionId }) => executionId);
  };
  const old = [
    ...(await executed(200)),
    (await node.execute("long", 0)).executionId,
    (await node.execute("long", 0)).executionId,
  ];
  await makeOld(old);
  const live = {
    running: await started("kept", { kind: "runs", n: 1 }),
    suspended: await started("kept", { kind: "waits", n: 2 }),
    asleep: await started("nap", { kind: "waits", n: 0 }),
  };
  return { old, young: await executed(20), live };
}

/** Old conversations without a turn, one with a live turn, and a young one. */
async function converse(node: Andante) {
  const old = Array.from({ length: 40 }, (_, n) => `old-${n}`);
  const fields = { agentId: "clerk", userId: null, title: null, messageId: "m", body: "{}", again: false };
  for (const conversationId of [...old, "young"]) {
    const at = Date.now() - (conversationId === "young" ? 0 : 100 * day);
    await node.store.conversations.post({ ...fields, key: conversationId, conversationId, at });
  }
  const reply = node.agents.text("clerk", "hello", { conversationId: "live" });
  const begun = () => countOf("old.executions where kind = 'turn'");
  await expect.poll(begun).toBe(1);
  await admin.query("update old.conversations set updated_at = 1 where conversation_id = 'live'");
  return { old, reply };
}

/** Removes an old conversation while all of them wait for it: they begin with the same ones, and none removes all of these. */
async function sweepTogether(sweepers: readonly Andante[], conversationId: string): Promise<void> {
  await admin.query("begin");
  await admin.query("delete from old.conversations where conversation_id = $1", [conversationId]);
  await Promise.all(sweepers.map((each) => each.ready()));
  const waiting = "pg_locks where not granted";
  await expect.poll(() => countOf(waiting)).toBe(sweepers.length);
  await admin.query("delete from old.messages where conversation_id = $1", [conversationId]);
  await admin.query("commit");
}

test("everything old goes, nothing that lives or is young, without an error, and no node serves it any more", {
  timeout: 120_000,
}, async () => {
  const first = node();
  const { old, young, live } = await populate(first);
  const conversations = await converse(first);
  const workflowOf = (id: string) => (old.indexOf(id) < 200 ? "kept" : "long");
  // Its copies of them must not be served later.
  for (const id of old) expect(await first.state(workflowOf(id), id)).toMatchObject({ status: "completed" });
  const sweepers = [1, 2, 3].map(() => node({ maxAge: "1d", conversations: "90d" }));
  let sweeping = true;
  const load = (async () => {
    for (let n = 0; sweeping; n++)
      expect(await first.execute("kept", { kind: "ends", n })).toMatchObject({ result: n });
  })();
  await sweepTogether(sweepers, conversations.old[0] ?? "");
  await expect.poll(() => countOf("old.executions where execution_id = any($1)", [old])).toBe(0);
  await expect.poll(() => countOf("old.conversations")).toBe(2);
  sweeping = false;
  await load;
  expect(lines.of("warn", "error")).toEqual([]);
  expect(await countOf("pg_stat_database where deadlocks > 0")).toBe(0);
  for (const table of ["journal", "suspensions", "timers", "snapshots"]) {
    const orphans = `old.${table} where execution_id not in (select execution_id from old.executions)`;
    expect([table, await countOf(orphans)]).toEqual([table, 0]);
  }
  expect(
    await countOf(
      "old.messages where conversation_id not in (select conversation_id from old.conversations)",
    ),
  ).toBe(0);
  const gone = { status: 404 };
  for (const each of nodes) {
    for (const id of [...old.slice(0, 3), ...old.slice(-2)]) {
      await expect(each.state(workflowOf(id), id)).rejects.toMatchObject(gone);
      await expect(each.events(workflowOf(id), id)).rejects.toMatchObject(gone);
      await expect(each.attach(workflowOf(id), id)).rejects.toMatchObject(gone);
      await expect(each.resume(workflowOf(id), id, true)).rejects.toMatchObject(gone);
    }
    await expect(each.conversations.read(conversations.old[0] ?? "")).rejects.toMatchObject(gone);
    for (const id of young) expect(await each.state("kept", id)).toMatchObject({ status: "completed" });
    for (const id of live.asleep) expect(await each.state("nap", id)).toMatchObject({ status: "running" });
  }
  // The id of a deleted one is free on every node, and none has the former values.
  for (const [index, each] of nodes.entries()) {
    const executionId = old[index] ?? "";
    await each.execute("kept", { kind: "ends", n: -1 }, { executionId });
    for (const other of nodes) expect(await other.state("kept", executionId)).toMatchObject({ result: -1 });
  }
  // Executions that ran meanwhile end as if nothing had been deleted.
  for (const id of live.suspended)
    expect(await sweepers[0]?.resume("kept", id, true)).toMatchObject({ result: 2 });
  released.resolve();
  expect(await conversations.reply).toMatchObject({ text: "late" });
  for (const id of live.running)
    await expect.poll(() => sweepers[0]?.state("kept", id)).toMatchObject({ result: 1 });
});

test("where only the most recent are kept, several nodes keep as many as one", {
  timeout: 120_000,
}, async () => {
  for (const each of nodes.splice(1)) await each.close({ grace: 0 });
  const [first] = nodes;
  const endings = "old.executions where end_at is not null and kind = 'workflow'";
  const recent = `select execution_id from ${endings} order by end_at desc, execution_id desc limit 10`;
  const before = (await admin.query(recent)).rows;
  await Promise.all([1, 2, 3].map(() => node({ maxCount: 10 }).ready()));
  await expect.poll(() => countOf(endings)).toBe(10);
  for (const each of nodes.splice(1)) await each.close({ grace: 0 });
  expect((await admin.query(recent)).rows).toEqual(before);
  expect(lines.of("warn", "error")).toEqual([]);
  expect((await first?.list({ workflowId: "nap" }))?.executions).toHaveLength(5);
});
