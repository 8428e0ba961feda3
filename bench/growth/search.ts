// Search in values among 100 000 executions, through the threads of the store: a value that one has, that thousands have,
// that all have, of everyone and of one user among a thousand.
import path from "node:path";
import { sqliteStore } from "@andante/core";
import { percentile } from "../measure.ts";
import { paced } from "../pace.ts";
import type { Budget } from "../results.ts";

const calls = 50;
const users = 1000;
/** Executions that are written at once. */
const together = 1000;

export async function search(folder: string): Promise<Budget[]> {
  const count = paced({ quick: 10_000, short: 100_000, full: 100_000 });
  const store = sqliteStore({ path: path.join(folder, "search.db") });
  await store.open();
  const index = store.search;
  if (index === undefined) throw new Error("the store has no index of values");
  for (let first = 0; first < count; first += together)
    await Promise.all(
      Array.from({ length: Math.min(together, count - first) }, (_, n) => {
        const number = first + n;
        const input = {
          order: `ord_${number}`,
          customer: `cus_${number % users}`,
          state: "pending",
          amount: number,
        };
        return store.create({
          executionId: `e-${String(number).padStart(7, "0")}`,
          workflowId: "refund",
          input: JSON.stringify(input),
          context: "{}",
          userId: `u-${number % users}`,
          conversationId: null,
          startAt: 1_700_000_000_000 + number,
          timeoutAt: null,
          claim: { owner: "bench", token: "token" },
          events: [],
        });
      }),
    );
  const began = performance.now();
  const events = { suspension: "step-suspended", state: "state-changed" };
  while ((await index.index({ limit: 50, events })).more);
  const indexing = ((performance.now() - began) / count) * 1000;
  const times: number[] = [];
  for (const text of ["ord_77", `ord_${count - 1}`, "ord_", "pending", "nothing like it"])
    for (const userId of [undefined, "u-77"])
      for (let call = 0; call < calls; call++) {
        const start = performance.now();
        await index.find({ text, userId, limit: 50 });
        times.push(performance.now() - start);
      }
  await store.close();
  const [usual, longest] = [percentile(times, 0.5), percentile(times, 0.99)];
  return [
    {
      name: `search in the values of ${count} executions, p99`,
      value: `${longest.toFixed(1)} ms`,
      budget: "under 100 ms",
      held: longest < 100,
      note: `median ${usual.toFixed(1)} ms; ${indexing.toFixed(0)} µs to index an execution`,
    },
  ];
}
