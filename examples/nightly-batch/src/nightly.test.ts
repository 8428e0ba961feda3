// Nights follow each other, each is started once, and a failing customer does not block the bills of the others.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { type Andante, createAndante, memoryStore, sqliteStore } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { expect, onTestFinished, test } from "vitest";
import { nextNight, nightAfter, nightlyWith } from "./nightly.ts";

function open(failing: readonly string[] = []) {
  const bills = new Map<string, string>();
  const tries = new Map<string, number>();
  const made: { andante?: Andante } = {};
  const nightly = nightlyWith({
    customers: async () => ["Ada", "Bob", "Eve"],
    async bill(customer, night, key) {
      tries.set(customer, (tries.get(customer) ?? 0) + 1);
      if (failing.includes(customer)) throw new Error("the address is wrong");
      bills.set(key, `${customer} ${night}`);
    },
    async start(night) {
      await made.andante?.start("nightly", { night }, { executionId: `nightly-${night}` });
    },
  });
  const clock = new TestClock({ start: new Date("2026-11-15T12:00:00Z"), skipSleeps: false });
  const andante = createAndante({ workflows: { nightly }, store: memoryStore(), clock });
  made.andante = andante;
  onTestFinished(() => andante.close());
  return { andante, clock, bills, tries };
}

test("three nights, one after the other", async () => {
  const { andante, clock, bills } = open();
  const first = { executionId: "nightly-2026-11-16" };
  await andante.start("nightly", { night: "2026-11-16" }, first);
  // A second start, as after a deployment in the evening.
  await andante.start("nightly", { night: "2026-11-16" }, first);
  for (const night of ["2026-11-16", "2026-11-17", "2026-11-18"]) {
    clock.advanceTo(new Date(`${night}T02:00:00Z`));
    await andante.settled();
    const { result } = await andante.state("nightly", `nightly-${night}`);
    expect(result).toEqual({ billed: 3, failed: [] });
  }
  expect([...bills.values()].filter((bill) => bill.startsWith("Ada"))).toEqual([
    "Ada 2026-11-16",
    "Ada 2026-11-17",
    "Ada 2026-11-18",
  ]);
  const { executions } = await andante.list();
  expect(executions.map(({ status }) => status)).toEqual(["running", "completed", "completed", "completed"]);
});

test("a customer in trouble is tried three times and reported", async () => {
  const { andante, clock, tries } = open(["Bob"]);
  await andante.start("nightly", { night: "2026-11-16" }, { executionId: "one" });
  clock.advanceTo(new Date("2026-11-16T02:00:00Z"));
  await andante.settled();
  // The delays between the attempts.
  for (let minute = 0; minute < 2; minute++) {
    clock.advance("1m");
    await andante.settled();
  }
  const { result } = await andante.state("nightly", "one");
  expect(result).toEqual({ billed: 2, failed: ["Bob"] });
  expect(Object.fromEntries(tries)).toEqual({ Ada: 1, Bob: 3, Eve: 1 });
  const warnings = await andante.logs.list({ level: "warn" });
  const retried = "the checkpoint failed and is tried again";
  expect(warnings.map(({ msg }) => msg)).toEqual([retried, retried, "Bob could not be billed"]);
});

test("a night that ended with its process continues with the next one, and with all that were missed", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "nightly-"));
  const file = path.join(folder, "andante.db");
  const night = new Date(Date.now() - 3 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  await leaveUnfinished(file, night);
  const main = path.join(import.meta.dirname, "main.ts");
  const env = { ...process.env, ANDANTE_DB: file, PORT: "0" };
  const program = spawn(process.execPath, ["--conditions=andante-source", main], { env });
  const ended = once(program, "exit");
  onTestFinished(async () => {
    program.kill();
    await ended;
    rmSync(folder, { recursive: true });
  });
  const missed = [night, nightAfter(night), nightAfter(nightAfter(night))];
  const billed = new Set<string>();
  for await (const line of createInterface({ input: program.stdout })) {
    const [, of] = /^Billed Eve for (.*)$/.exec(line) ?? [];
    if (of !== undefined) billed.add(of);
    if (missed.every((each) => billed.has(each))) break;
  }
  expect([...billed]).toEqual(missed);
});

/** A process that died while a night of the past was about to start the next one. */
async function leaveUnfinished(file: string, night: string): Promise<void> {
  const starting = Promise.withResolvers<void>();
  const nightly = nightlyWith({
    customers: async () => [],
    bill: async () => undefined,
    start: () => {
      starting.resolve();
      return new Promise(() => undefined);
    },
  });
  const andante = createAndante({ workflows: { nightly }, store: sqliteStore({ path: file }) });
  await andante.start("nightly", { night }, { executionId: `nightly-${night}` });
  await starting.promise;
  await andante.close({ grace: 0 });
}

test("the night after the last of a month", () => {
  expect([nightAfter("2026-11-30"), nightAfter("2028-02-28")]).toEqual(["2026-12-01", "2028-02-29"]);
});

test.each([
  ["2026-11-15T01:59:59Z", "2026-11-15"],
  ["2026-11-15T02:00:00Z", "2026-11-16"],
  ["2026-11-30T22:00:00Z", "2026-12-01"],
])("at %s the next night is %s", (now, night) => {
  expect(nextNight(new Date(now))).toBe(night);
});
