// Each night is billed once, also after crashes, and a failing customer does not block the bills of the others.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { createAndante, memoryStore, sqliteStore } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { expect, onTestFinished, test } from "vitest";
import { nightlyWith } from "./nightly.ts";

interface Opening {
  readonly clock?: TestClock;
  readonly file?: string;
  readonly failing?: readonly string[];
  /** Whether bills are sent. */
  readonly hangs?: boolean;
}

const start = new Date("2026-11-15T12:00:00Z");

function open({
  clock = new TestClock({ start, skipSleeps: false }),
  file,
  failing = [],
  hangs = false,
}: Opening = {}) {
  const bills: string[] = [];
  const tries = new Map<string, number>();
  const hanging = Promise.withResolvers<void>();
  const nightly = nightlyWith({
    customers: async () => ["Ada", "Bob", "Eve"],
    async bill(customer, night) {
      tries.set(customer, (tries.get(customer) ?? 0) + 1);
      if (failing.includes(customer)) throw new Error("the address is wrong");
      if (!hangs) return void bills.push(`${customer} ${night}`);
      hanging.resolve();
      await new Promise(() => undefined);
    },
  });
  const store = file === undefined ? memoryStore() : sqliteStore({ path: file });
  const andante = createAndante({ workflows: { nightly }, store, clock });
  onTestFinished(() => andante.close({ grace: 0 }));
  return { andante, clock, bills, tries, hanging: hanging.promise };
}

test("three nights, each once, at two in Berlin", async () => {
  const { andante, clock, bills } = open();
  await andante.ready();
  for (const night of ["2026-11-16", "2026-11-17", "2026-11-18"]) {
    clock.advanceTo(new Date(`${night}T00:59:59Z`));
    await andante.settled();
    expect(bills.filter((bill) => bill.endsWith(night))).toEqual([]);
    clock.advanceTo(new Date(`${night}T01:00:00Z`));
    await andante.settled();
    expect(bills.filter((bill) => bill.endsWith(night))).toHaveLength(3);
  }
  const { executions } = await andante.list();
  expect(executions.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
});

test("a customer in trouble is tried three times and reported", async () => {
  const { andante, clock, tries } = open({ failing: ["Bob"] });
  await andante.ready();
  clock.advanceTo(new Date("2026-11-16T01:00:00Z"));
  await andante.settled();
  // The delays between the attempts.
  for (let minute = 0; minute < 2; minute++) {
    clock.advance("1m");
    await andante.settled();
  }
  const { result } = await andante.state("nightly", "nightly:bills@20261116T010000Z");
  expect(result).toEqual({ billed: 2, failed: ["Bob"] });
  expect(Object.fromEntries(tries)).toEqual({ Ada: 1, Bob: 3, Eve: 1 });
});

test("a night that ended with its process continues with the next one, and then those that were missed", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "nightly-"));
  const file = path.join(folder, "andante.db");
  const clock = new TestClock({ start, skipSleeps: false });
  const first = open({ clock, file, hangs: true });
  await first.andante.ready();
  clock.advanceTo(new Date("2026-11-16T01:00:00Z"));
  await first.hanging;
  await first.andante.close({ grace: 0 });
  clock.advanceTo(new Date("2026-11-18T12:00:00Z"));
  const second = open({ clock, file });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await expect.poll(() => second.bills.length, { timeout: 30_000 }).toBe(9);
  const nights = second.bills.map((bill) => bill.slice(-10));
  expect(nights).toEqual(["16", "17", "18"].flatMap((day) => Array(3).fill(`2026-11-${day}`)));
});

test("the program shows its next night", async () => {
  const main = path.join(import.meta.dirname, "main.ts");
  const folder = mkdtempSync(path.join(tmpdir(), "nightly-"));
  const env = { ...process.env, ANDANTE_DB: path.join(folder, "andante.db"), PORT: "0" };
  const program = spawn(process.execPath, ["--conditions=andante-source", main], { env });
  const ended = once(program, "exit");
  onTestFinished(async () => {
    program.kill();
    await ended;
    rmSync(folder, { recursive: true });
  });
  const lines = createInterface({ input: program.stdout });
  const shown = /^The next night is at .*T0[01]:00:00\.000Z: .*\/console\/schedules\/nightly:bills$/;
  for await (const line of lines) if (shown.test(line)) return;
  expect.fail("it has not shown its next night");
});
