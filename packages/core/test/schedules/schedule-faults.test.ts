// Faults of schedules in memory and on maps, and a file without room; a file and PostgreSQL have the same cases.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createAndante, createWorkflow, sqliteStore } from "../../src/index.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { plainStore } from "../store/plain-store.ts";
import { memoryPlaces } from "./memory-places.ts";
import { scheduleFaultCases } from "./schedule-fault-cases.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-schedule-faults-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

scheduleFaultCases("SQLite", memoryPlaces());

scheduleFaultCases("maps", () => {
  const store = plainStore();
  return () => store;
});

test("an occurrence that finds no room in its file starts in the next process, once", async () => {
  const file = path.join(folder, "full.db");
  const clock = new TestClock({ start: Date.parse("2027-03-01T12:00:30Z"), skipSleeps: false });
  const input = z.object({ text: z.string() });
  const large = { cron: "0 9 * * *", input: () => ({ text: "x".repeat(100_000) }) };
  const report = createWorkflow({ id: "report", input, schedules: { large } }).andThen({
    id: "count",
    execute: ({ data }) => data.text.length,
  });
  const filler = createWorkflow({ id: "filler", input }).andThen({ id: "end", execute: () => "done" });
  const open = (maxBytes: number) => {
    const store = sqliteStore({ path: file, maxBytes });
    const andante = createAndante({ workflows: { report, filler }, store, clock });
    onTestFinished(() => andante.close({ grace: 0 }));
    return andante;
  };
  const first = open(700_000);
  await first.ready();
  let isFull = false;
  while (!isFull)
    await first.start("filler", { text: "y".repeat(20_000) }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "store-unavailable" });
      isFull = true;
    });
  const failures = async () => /^andante_storage_failures_total (\d+)/m.exec(await first.metrics.text())?.[1];
  const before = Number(await failures());
  clock.advance("1d");
  await expect.poll(async () => Number(await failures()), { timeout: 30_000 }).toBeGreaterThan(before);
  expect(await first.schedules.get("report:large")).toMatchObject({ started: 0, missed: 0, skipped: 0 });
  await first.close({ grace: 0 });

  const second = open(50_000_000);
  await second.ready();
  const ended = async () => (await second.list({ workflowId: "report" })).executions;
  const executionId = "report:large@20270302T090000Z";
  await expect.poll(ended, { timeout: 30_000 }).toMatchObject([{ executionId, status: "completed" }]);
  expect(await second.schedules.get("report:large")).toMatchObject({ started: 1, missed: 0, waiting: 0 });
});
