// The desk: small amounts pass, others wait, a deadline decides in the end, and a crash anywhere pays once.
import { createAndante, memoryStore } from "@andante/core";
import { crashTest, TestClock } from "@andante/core/test";
import { expect, onTestFinished, test } from "vitest";
import { expenseWith } from "./expense.ts";

function open() {
  const paid = new Map<string, number>();
  const expense = expenseWith(async ({ key, amount }) => {
    paid.set(key, amount);
    return "receipt";
  });
  const clock = new TestClock();
  const andante = createAndante({ workflows: { expense }, store: memoryStore(), clock });
  onTestFinished(() => andante.close());
  return { andante, clock, expense, paid };
}

test("a small amount is paid without a question", async () => {
  const { andante, paid } = open();
  const { result } = await andante.execute("expense", { to: "Ada", amount: 40, what: "books" });
  expect(result).toEqual({ paid: true, receipt: "receipt", note: "small" });
  expect([...paid.values()]).toEqual([40]);
});

test.each([
  [{ approved: true }, { paid: true, receipt: "receipt", note: "" }],
  [
    { approved: false, note: "too dear" },
    { paid: false, receipt: null, note: "too dear" },
  ],
])("a person decides: %o", async (resumeData, result) => {
  const { andante } = open();
  const asked = await andante.execute("expense", { to: "Ada", amount: 240, what: "a train" });
  expect(asked.suspension?.reason).toBe("Ada asks for 240: a train");
  expect((await andante.resume("expense", asked.executionId, resumeData)).result).toEqual(result);
});

test("an undecided expense is refused after three days", async () => {
  const { andante, clock, paid } = open();
  const { executionId } = await andante.execute("expense", { to: "Ada", amount: 240, what: "a train" });
  clock.advance("3d");
  await andante.settled();
  const { result } = await andante.state("expense", executionId);
  expect(result).toEqual({ paid: false, receipt: null, note: "nobody decided in three days" });
  expect(paid.size).toBe(0);
});

test("a crash anywhere pays once", async () => {
  const { expense, paid } = open();
  const { differences } = await crashTest({
    workflow: expense,
    input: { to: "Ada", amount: 240, what: "a train" },
    resume: () => ({ approved: true }),
    reset: () => paid.clear(),
    observe: () => [...paid.values()],
  });
  expect(differences).toEqual([]);
});
