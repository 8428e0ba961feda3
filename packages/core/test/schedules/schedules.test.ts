// Schedules of workflows in memory and on maps; a file and PostgreSQL have the same cases.
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Agent, createAndante, createWorkflow, memoryStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/test-kit/scripted-model.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { Clock } from "../../src/values/clock.ts";
import { plainStore } from "../store/plain-store.ts";
import { memoryPlaces } from "./memory-places.ts";
import { scheduleCases } from "./schedule-cases.ts";

scheduleCases("SQLite", memoryPlaces());

scheduleCases("maps", () => {
  const store = plainStore();
  return () => store;
});

test("a clock that is set back while the process runs lets schedules go on, those of agents too", async () => {
  const inner = new TestClock({ start: Date.parse("2027-03-01T12:00:00Z"), skipSleeps: false });
  let ahead = 0;
  const clock: Clock = {
    now: () => inner.now() + ahead,
    at: (time, kind, callback) => inner.at(time - ahead, kind, callback),
  };
  const schedules = { daily: { cron: "0 9 * * *", prompt: "Report" } };
  const model = scriptedModel(["one", "two", "three", "four"]);
  const clerk = new Agent({ id: "clerk", model, schedules });
  const andante = createAndante({ agents: { clerk }, store: memoryStore(), clock });
  onTestFinished(() => andante.close({ grace: 0 }));
  await andante.ready();
  const daily = () => andante.schedules.get("clerk:daily");
  /** Until the next alarm. */
  const nextDay = async (from: string) => {
    inner.advanceTo(Date.parse(from));
    await andante.settled();
  };
  await nextDay("2027-03-02T09:00:00Z");
  ahead = 3 * 86_400_000;
  await nextDay("2027-03-03T09:00:00Z");
  await expect.poll(daily).toMatchObject({ started: 2, nextAt: "2027-03-07T09:00:00.000Z" });
  ahead = 0;
  await nextDay("2027-03-04T09:00:00Z");
  await expect.poll(daily).toMatchObject({ started: 2, nextAt: "2027-03-05T09:00:00.000Z" });
  for (const day of ["05", "06", "07"]) await nextDay(`2027-03-${day}T09:00:00Z`);
  const asked = async () => {
    const { messages } = await andante.conversations.messages("clerk:daily", { limit: 20 });
    return messages.flatMap(({ id, role }) => (role === "user" ? [id.slice(-16)] : []));
  };
  // The prompt of 6 March was posted while the clock was ahead.
  const times = ["02", "05", "06", "07"].map((day) => `202703${day}T090000Z`);
  await expect.poll(async () => (await asked()).toSorted()).toEqual(times);
});

test.each([
  ["2027-03-20T00:00:00Z", "2027-03-28T01:00:00.000Z"],
  ["2027-10-25T00:00:00Z", "2027-10-31T00:30:00.000Z"],
])("a test clock runs two schedules from %s on, through a change of clocks", async (from, changed) => {
  const times: string[] = [];
  const input = z.object({ at: z.string() });
  const schedules = {
    daily: {
      cron: "30 2 * * *",
      zone: "Europe/Berlin",
      input: ({ at }: { at: Date }) => ({ at: at.toISOString() }),
    },
    weekly: { cron: "0 9 * * mon", input: ({ at }: { at: Date }) => ({ at: at.toISOString() }) },
  };
  const workflow = createWorkflow({ id: "report", input, schedules }).andThen({
    id: "run",
    execute: ({ data }) => times.push(data.at),
  });
  const start = Date.parse(from);
  const clock = new TestClock({ start, skipSleeps: false });
  const andante = createAndante({ workflows: { workflow }, store: memoryStore(), clock });
  await andante.ready();
  await clock.run("14d", andante);
  await andante.close();
  expect(times).toHaveLength(14 + 2);
  expect(times.toSorted()).toEqual(times);
  expect(times).toContain(changed);
  expect(clock.now()).toBe(start + 14 * 86_400_000);
});
