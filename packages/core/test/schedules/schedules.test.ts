// Schedules of workflows on a file and on maps; PostgreSQL has the same cases.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { createAndante, createWorkflow, memoryStore, sqliteStore } from "../../src/index.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { plainStore } from "../store/plain-store.ts";
import { scheduleCases } from "./schedule-cases.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-schedules-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

scheduleCases("SQLite", () => {
  const file = path.join(folder, `${files++}.db`);
  return () => sqliteStore({ path: file });
});

scheduleCases("maps", () => {
  const store = plainStore();
  return () => store;
});

test("a test clock runs a year of two schedules, through both changes of clocks", async () => {
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
  const clock = new TestClock({ start: Date.parse("2027-01-01T00:00:00Z"), skipSleeps: false });
  const andante = createAndante({ workflows: { workflow }, store: memoryStore(), clock });
  await andante.ready();
  await clock.run("365d", andante);
  await andante.close();
  expect(times).toHaveLength(365 + 52);
  expect(times.toSorted()).toEqual(times);
  // The days on which clocks change.
  expect(times).toContain("2027-03-28T01:00:00.000Z");
  expect(times).toContain("2027-10-31T00:30:00.000Z");
  expect(clock.now()).toBe(Date.parse("2028-01-01T00:00:00Z"));
});
