// Schedules on PostgreSQL: the cases of every store, ten processes that start at once, two nodes, an agent, a database that is
// away, and nodes with a wrong clock.
import { spawn } from "node:child_process";
import path from "node:path";
import { Agent, type Andante, createAndante, createWorkflow } from "@andante/core";
import type { Store } from "@andante/core/store";
import { TestClock } from "@andante/core/test";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { scheduleCases } from "../../core/test/schedules/schedule-cases.ts";
import { scheduleFaultCases } from "../../core/test/schedules/schedule-fault-cases.ts";
import { controlledModel, lastText } from "../../core/test/support/controlled-model.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());

let schemas = 0;
function place() {
  const schema = `s${schemas++}`;
  return () => postgresStore({ url: server.url, schema, lease: 3000 });
}

scheduleCases("PostgreSQL", place);
scheduleFaultCases("PostgreSQL", place);

const start = Date.parse("2027-03-01T12:00:30Z");
const everyMinute = { cron: "* * * * *", input: {} };

function nodes(count: number) {
  const open = place();
  const asked: string[] = [];
  const model = controlledModel((call) => {
    asked.push(lastText(call));
    return { text: ["reported"] };
  });
  const clock = new TestClock({ start, skipSleeps: false });
  /** How often each node has looked for what is due without success. */
  const looks = Array.from({ length: count }, () => 0);
  const made = Array.from({ length: count }, (_, index): Andante => {
    const store = open();
    const due: Store["due"] = (query) =>
      store.due(query).catch((error: unknown) => {
        looks[index] = (looks[index] ?? 0) + 1;
        throw error;
      });
    const tick = createWorkflow({
      id: "tick",
      input: z.object({}),
      schedules: { often: everyMinute },
    }).andThen({
      id: "run",
      execute: () => "done",
    });
    const schedules = { often: { cron: "* * * * *", prompt: ({ at }: { at: Date }) => at.toISOString() } };
    const clerk = new Agent({ id: "clerk", model, schedules });
    const agents = { clerk };
    const andante = createAndante({ workflows: { tick }, agents, store: { ...store, due }, clock });
    onTestFinished(() => andante.close({ grace: 0 }));
    return andante;
  });
  return { made, clock, asked, looks };
}

test("ten processes that start at once have one schedule of revision 1", { timeout: 60_000 }, async () => {
  const { made } = nodes(10);
  await Promise.all(made.map((node) => node.ready()));
  const [node] = made;
  const found = await node?.schedules.list();
  expect(found?.schedules.map(({ scheduleId, revision }) => [scheduleId, revision])).toEqual([
    ["clerk:often", 1],
    ["tick:often", 1],
  ]);
});

test("two nodes start one execution and post one prompt for each occurrence", {
  timeout: 60_000,
}, async () => {
  const { made, clock, asked } = nodes(2);
  for (const node of made) await node.ready();
  const [node] = made;
  for (let minute = 1; minute <= 5; minute++) {
    clock.advance("1m");
    for (const id of ["tick:often", "clerk:often"])
      await expect
        .poll(async () => (await node?.schedules.get(id))?.started, { timeout: 30_000 })
        .toBe(minute);
    // An occurrence beside an execution that runs would be skipped.
    const ended = async () => (await node?.list({ workflowId: "tick", status: "completed" }))?.executions;
    await expect.poll(ended, { timeout: 30_000 }).toHaveLength(minute);
  }
  const page = await node?.list({ workflowId: "tick", limit: 100 });
  expect(page?.executions).toHaveLength(5);
  const minutes = ["01", "02", "03", "04", "05"].map((minute) => `2027-03-01T12:${minute}:00.000Z`);
  await expect.poll(() => asked, { timeout: 30_000 }).toEqual(minutes);
  const kept = await node?.conversations.messages("clerk:often", { limit: 100 });
  expect(kept?.messages.filter(({ role }) => role === "user").map(({ id }) => id)).toEqual(
    ["01", "02", "03", "04", "05"].map((minute) => `clerk:often@20270301T12${minute}00Z`),
  );
});

test("two nodes whose database is away while four occurrences are due make up the latest occurrence, once", {
  timeout: 180_000,
}, async () => {
  const { made, clock, looks } = nodes(2);
  for (const node of made) await node.ready();
  const [node] = made;
  const often = async () => node?.schedules.get("tick:often");
  clock.advance("1m");
  await expect.poll(async () => (await often())?.started, { timeout: 30_000 }).toBe(1);
  // The next occurrence would be skipped beside it.
  const ended = async () => (await node?.list({ workflowId: "tick", status: "completed" }))?.executions;
  await expect.poll(ended, { timeout: 30_000 }).toHaveLength(1);
  await server.stop();
  let isAway = true;
  onTestFinished(async () => {
    if (isAway) await server.start();
  });
  const stopped = performance.now();
  for (let minute = 0; minute < 4; minute++) {
    const before = [...looks];
    clock.advance("1m");
    // Both nodes have looked for what is due, and found no database.
    const all = () => looks.every((count, index) => count > (before[index] ?? 0));
    await expect.poll(all, { timeout: 60_000 }).toBe(true);
  }
  for (const each of made) expect(await each.metrics.text()).toMatch(/^andante_storage_in_trouble 1$/m);
  // Longer than their lease.
  await expect.poll(() => performance.now() - stopped, { timeout: 60_000 }).toBeGreaterThan(10_000);
  await server.start();
  isAway = false;
  const next = async () => {
    clock.advance("1s");
    return often();
  };
  await expect.poll(next, { timeout: 20_000, interval: 1000 }).toMatchObject({ started: 2, missed: 3 });
  const outcomes = async () =>
    (await node?.schedules.occurrences("tick:often"))?.map(({ at, outcome }) => [at.slice(14, 16), outcome]);
  expect(await outcomes()).toEqual([
    ["05", "started"],
    ["04", "missed"],
    ["01", "started"],
  ]);
  clock.advance("1m");
  await expect.poll(often, { timeout: 60_000 }).toMatchObject({ started: 3, missed: 3 });
  const page = await node?.list({ workflowId: "tick", limit: 100 });
  expect(page?.executions).toHaveLength(3);
});

/** A node with its own clock, as a process. */
function nodeWithClock(schema: string, ahead: number): Promise<void> {
  const main = path.join(import.meta.dirname, "scheduling-child.ts");
  const settings = JSON.stringify({ url: server.url, schema, ahead });
  const child = spawn(process.execPath, ["--conditions=andante-source", main, settings], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`the node ended with ${code}`)));
  });
}

test.each([
  ["an hour ahead", 3_600_000],
  ["an hour behind", -3_600_000],
])(
  "a node whose clock is %s starts each occurrence once, and at the time of the database",
  {
    timeout: 180_000,
  },
  async (_, ahead) => {
    const schema = `s${schemas++}`;
    const client = new pg.Client(server.url);
    await client.connect();
    onTestFinished(() => client.end());
    const store = postgresStore({ url: server.url, schema, lease: 3000 });
    const alone = createAndante({ workflows: {}, store });
    onTestFinished(() => alone.close({ grace: 0 }));
    await alone.ready();
    // The time at which the database has a row is that of no node.
    await client.query(
      `alter table ${schema}.executions add column made_at float8 default extract(epoch from clock_timestamp()) * 1000`,
    );
    await Promise.all([nodeWithClock(schema, ahead), nodeWithClock(schema, 0)]);
    const rows = async () => {
      const found = await client.query(
        `select execution_id as id, made_at, start_at, owner from ${schema}.executions order by 1`,
      );
      return z
        .array(z.object({ id: z.string(), made_at: z.number(), start_at: z.coerce.number() }))
        .parse(found.rows)
        .map(({ id, made_at, start_at }) => ({ at: timeIn(id), madeAt: made_at, startAt: start_at }));
    };
    await expect.poll(async () => (await rows()).length, { timeout: 90_000 }).toBeGreaterThan(12);
    const all = await rows();
    // Each second from the first to the last: none twice, none left out.
    const [first] = all;
    expect(all.map(({ at }) => at)).toEqual(all.map((_, index) => (first?.at ?? 0) + index * 1000));
    for (const { at, madeAt, startAt } of all) {
      // Both nodes know the time of the database to within a round trip.
      expect(madeAt - at).toBeGreaterThan(-250);
      expect(Math.abs(madeAt - startAt)).toBeLessThan(5_000);
    }
  },
);

/** The nominal time at the end of the id of an execution. */
function timeIn(executionId: string): number {
  const text = executionId.slice(executionId.indexOf("@") + 1);
  return Date.parse(text.replace(/^(....)(..)(..T..)(..)(..)Z$/, "$1-$2-$3:$4:$5Z"));
}
