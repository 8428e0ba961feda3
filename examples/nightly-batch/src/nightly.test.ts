// Nights follow each other, each is started once, and a customer in trouble does not keep the others from their bills.
import { type Andante, createAndante, memoryStore } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { expect, onTestFinished, test } from "vitest";
import { nightAfter, nightlyWith } from "./nightly.ts";

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

test("a customer in trouble is tried three times and told of", async () => {
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
});

test("the night after the last of a month", () => {
  expect([nightAfter("2026-11-30"), nightAfter("2028-02-28")]).toEqual(["2026-12-01", "2028-02-29"]);
});
