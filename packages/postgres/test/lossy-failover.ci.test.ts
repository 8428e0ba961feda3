// The database's machine is lost, and a replica that lacks the last commits becomes the primary: lost steps are done
// again, every result is right, and nothing is stuck.
import { type Andante, createAndante, createWorkflow } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { type StandbyServer, startStandby } from "./standby-server.ts";
import { type SwitchingProxy, startProxy } from "./switching-proxy.ts";

let primary: PostgresServer;
let standby: StandbyServer;
let proxy: SwitchingProxy;
const nodes: Andante[] = [];
beforeAll(async () => {
  primary = await startPostgres({ max_connections: 100 });
  standby = await startStandby(primary, { synchronous: false });
  proxy = await startProxy(primary.port);
  const url = primary.url.replace(`:${primary.port}/`, `:${proxy.port}/`);
  for (let count = 0; count < 2; count++) {
    const store = postgresStore({ url, schema: "lossy", lease: 3_000 });
    nodes.push(createAndante({ store, workflows: { chain }, logs: { level: "error" } }));
    await nodes.at(-1)?.ready();
  }
});
afterAll(async () => {
  for (const node of nodes) await node.close({ grace: 0 });
  await proxy.close();
  await standby.remove();
  await primary.remove();
});

/** Bodies wait here until it is opened. */
function barrier() {
  const opened = Promise.withResolvers<void>();
  const waiting = new Set<string>();
  const pass = (executionId: string) => {
    waiting.add(executionId);
    return opened.promise;
  };
  return { waiting, pass, open: () => opened.resolve() };
}

const [before, after] = [barrier(), barrier()];
const runs = new Map<string, number>();
/** Long enough to be kept once: the events after it refer to it. */
const madeBy = (executionId: string, step: string) => `${executionId} ${step} `.padEnd(600, step);

const chain = createWorkflow({ id: "chain", input: z.object({ kind: z.enum(["runs", "ends", "waits"]) }) })
  .andThen({ id: "a", execute: ({ executionId }) => madeBy(executionId, "a") })
  .andThen({
    id: "b",
    execute: async ({ executionId, data }) => {
      await before.pass(executionId);
      runs.set(executionId, (runs.get(executionId) ?? 0) + 1);
      return `${data}${madeBy(executionId, "b")}`;
    },
  })
  .andThen({
    id: "c",
    execute: async ({ executionId, input, resumeData, suspend }) => {
      if (input.kind === "waits") return resumeData ?? suspend();
      if (input.kind === "runs") await after.pass(executionId);
      return madeBy(executionId, "c");
    },
  })
  .andThen({
    id: "all",
    execute: ({ getStepData, data }) => [getStepData("a")?.output, getStepData("b")?.output, data],
  });

test("executions whose last commits are lost repeat them, and end with their own values", async () => {
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error("there are no nodes");
  const ids: Record<"runs" | "ends" | "waits", string[]> = { runs: [], ends: [], waits: [] };
  const results: Promise<unknown>[] = [];
  for (const kind of ["runs", "runs", "ends", "waits"] as const)
    for (const node of [a, b]) {
      const started = await node.start("chain", { kind });
      ids[kind].push(started.executionId);
      if (kind === "runs") results.push(started.result());
    }
  const all = Object.values(ids).flat();
  await expect.poll(() => before.waiting.size).toBe(all.length);
  await standby.detach();
  before.open();
  await expect.poll(() => after.waiting.size).toBe(ids.runs.length);
  const statusOf = async (id: string) => (await b.state("chain", id)).status;
  for (const id of ids.ends) await expect.poll(() => statusOf(id)).toBe("completed");
  for (const id of ids.waits) await expect.poll(() => statusOf(id)).toBe("suspended");
  primary.kill();
  await standby.promote();
  proxy.switchTo(standby.port);
  after.open();
  await Promise.all(results);
  for (const id of ids.waits) {
    const suspended = async () => (await b.state("chain", id).catch(() => undefined))?.status;
    await expect.poll(suspended).toBe("suspended");
    await b.resume("chain", id, madeBy(id, "c"));
  }
  for (const id of all) {
    await expect.poll(() => statusOf(id)).toBe("completed");
    const { result } = await b.state("chain", id);
    const first = madeBy(id, "a");
    expect(result).toEqual([first, `${first}${madeBy(id, "b")}`, madeBy(id, "c")]);
    const events = await b.events("chain", id);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(runs.get(id)).toBe(2);
  }
});

test("a damaged journal is an error with the number of its event, and every read of it ends", async () => {
  const client = new pg.Client(standby.url);
  await client.connect();
  const [node] = nodes;
  const newest = "select max(sequence) from lossy.journal where execution_id = $1";
  const executed = async (change: string) => {
    const { executionId } = (await node?.execute("chain", { kind: "ends" })) ?? { executionId: "" };
    const { rowCount } = await client.query(`${change} where execution_id = $1 and sequence = (${newest})`, [
      executionId,
    ]);
    expect(rowCount).toBe(1);
    const { rows } = await client.query(newest, [executionId]);
    return { executionId, last: Number(rows[0]?.max) };
  };
  try {
    const referring = (place: string) => `update lossy.journal set events = (select json_build_array(
      json_build_array('workflow-complete', 1, null, null, null, ${place}, null))::text)`;
    for (const place of ["sequence", "sequence + 1"]) {
      const { executionId, last } = await executed(referring(place));
      const damaged = { code: "journal-damaged", message: expect.stringContaining(`event ${last}`) };
      await expect(node?.store.events({ executionId, after: 0, limit: 100 })).rejects.toMatchObject(damaged);
      await expect(node?.store.state(executionId)).rejects.toMatchObject(damaged);
    }
    const { executionId } = await executed(referring("1"));
    expect(await node?.store.state(executionId)).toBeDefined();
    const gap = await executed(referring("sequence - 1"));
    await client.query("delete from lossy.journal where execution_id = $1 and sequence < $2", [
      gap.executionId,
      gap.last,
    ]);
    await expect(node?.store.state(gap.executionId)).rejects.toMatchObject({
      code: "journal-damaged",
      message: `The journal is damaged at event ${gap.last - 1}: it is missing`,
    });
    const cut = await executed("update lossy.journal set events = left(events, 9)");
    await expect(
      node?.store.events({ executionId: cut.executionId, after: 0, limit: 100 }),
    ).rejects.toMatchObject({
      code: "journal-damaged",
      message: `The journal is damaged at event ${cut.last}: its row is not JSON`,
    });
  } finally {
    await client.end();
  }
});

test("a resume that names the last event is refused where that is another one of the same number", async () => {
  const [node] = nodes;
  const { executionId } = (await node?.execute("chain", { kind: "waits" })) ?? { executionId: "" };
  const state = await node?.store.state(executionId);
  const events = (await node?.store.events({ executionId, after: 0, limit: 100 })) ?? [];
  const { sequence = 0, timestamp: at = 0 } = events.at(-1) ?? {};
  const suspensionIds = state?.suspensions.map(({ suspensionId }) => suspensionId) ?? [];
  const resume = (last: { sequence: number; at: number }) => {
    const event = { timestamp: at, type: "workflow-resumed", path: "c", stepIndex: 2, stepType: null };
    return node?.store.resume({
      executionId,
      suspensionIds,
      rewind: null,
      events: [{ ...event, value: null, detail: null }],
      claim: { owner: "there", token: "token" },
      byDeadline: false,
      last,
    });
  };
  expect(await resume({ sequence, at: at - 1 })).toEqual({ kind: "refused" });
  expect(await resume({ sequence, at })).toMatchObject({ kind: "claimed" });
});

test("a resume is refused before it is written where the journal has an unknown event in place of the one that is held", async () => {
  const [node] = nodes;
  const { executionId } = (await node?.execute("chain", { kind: "waits" })) ?? { executionId: "" };
  const client = new pg.Client(standby.url);
  await client.connect();
  onTestFinished(() => client.end());
  // As a node of a later release may write it after the failover.
  const { rowCount } = await client.query(
    `update lossy.journal set events = jsonb_set(jsonb_set(events::jsonb, '{-1,0}', '"later"'), '{-1,1}', '1')::text
     where execution_id = $1 and sequence = (select max(sequence) from lossy.journal where execution_id = $1)`,
    [executionId],
  );
  expect(rowCount).toBe(1);
  await expect(node?.resume("chain", executionId, "c")).rejects.toMatchObject({ code: "unknown-event" });
  expect(await node?.state("chain", executionId)).toMatchObject({ status: "suspended" });
});
