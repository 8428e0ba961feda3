// Schedules on PostgreSQL: the cases of every store, ten processes that start at once, two nodes, and an agent.
import { Agent, type Andante, createAndante, createWorkflow } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { postgresStore } from "@andante/postgres";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { scheduleCases } from "../../core/test/schedules/schedule-cases.ts";
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
  const made = Array.from({ length: count }, (): Andante => {
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
    const andante = createAndante({ workflows: { tick }, agents, store: open(), clock });
    onTestFinished(() => andante.close({ grace: 0 }));
    return andante;
  });
  return { made, clock, asked };
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
