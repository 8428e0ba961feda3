// Search in values among 100 000 executions, through the threads of the store: a value that one has, that thousands have,
// that all have, of everyone and of one user among a thousand.
import path from "node:path";
import { sqliteStore } from "@andante/core";
import { median } from "../measure.ts";
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
  const before = process.cpuUsage();
  const medians: number[] = [];
  for (const text of texts(count))
    for (const userId of [undefined, "u-77"]) {
      const times: number[] = [];
      for (let call = 0; call < calls; call++) {
        const start = performance.now();
        await index.find({ text, userId, limit: 50 });
        times.push(performance.now() - start);
      }
      medians.push(median(times));
    }
  const { user, system } = process.cpuUsage(before);
  const processor = (user + system) / 1000 / (medians.length * calls);
  await store.close();
  const slowest = Math.max(...medians);
  return [
    {
      name: `the slowest kind of search in the values of ${count} executions`,
      value: `${slowest.toFixed(1)} ms`,
      budget: "under 100 ms",
      held: slowest < 100,
      note: `${processor.toFixed(1)} ms of processor on average; ${indexing.toFixed(0)} µs to index an execution`,
    },
  ];
}

/** A value that one execution has, a beginning that thousands have, and all have; a value of all; one of none. */
const texts = (count: number) => [`ord_${count - 1}`, "ord_77", "ord_", "pending", "nothing like it"];
