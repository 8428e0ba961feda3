// Fan-outs at full concurrency: the longest turn of the event loop, which grows with the slice and not with the items.
import path from "node:path";
import { createAndante, createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { z } from "zod";
import { median } from "../measure.ts";
import { paced } from "../pace.ts";
import type { Budget } from "../results.ts";

const small = 1000;

const fanOut = createWorkflow({ id: "fan-out", input: z.number() })
  .andThen({ id: "list", execute: ({ data }) => Array.from({ length: data }, (_, index) => index) })
  .andForEach({
    id: "each",
    concurrency: 1_000_000,
    step: (chain) => chain.andThen({ id: "work", execute: async ({ data }) => data }),
  });

export async function fanOuts(folder: string): Promise<Budget> {
  const large = paced({ quick: 5000, short: 20_000, full: 20_000 });
  const andante = createAndante({
    workflows: { "fan-out": fanOut },
    store: sqliteStore({ path: path.join(folder, "fan-outs.db") }),
    logger: createLogger({ level: "error" }),
  });
  const run = (items: number) => longestTurn(() => andante.execute("fan-out", items));
  // The first run compiles code, which counts for neither.
  await run(large);
  const turns = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < 5; round++) {
    turns.small.push(await run(small));
    turns.large.push(await run(large));
  }
  await andante.close();
  const [first, last] = [median(turns.small), median(turns.large)];
  return {
    name: `a fan-out of ${large} items, its longest turn of the event loop against ${small}`,
    value: `${(last / first).toFixed(2)} ×`,
    budget: "at most 4 ×",
    held: last / first <= 4,
    note: `${last.toFixed(0)} against ${first.toFixed(0)} ms of processor`,
  };
}

/** Milliseconds of processor time that this thread took between two turns at most. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = processorTime();
  const next = () => {
    const now = processorTime();
    longest = Math.max(longest, now - before);
    before = now;
    turn = setImmediate(next);
  };
  let turn = setImmediate(next);
  await work();
  clearImmediate(turn);
  return longest;
}

function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
