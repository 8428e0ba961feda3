// Answering one of many gates that are open at once in one execution.
import path from "node:path";
import { createAndante, createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { z } from "zod";
import { median } from "../measure.ts";
import { paced } from "../pace.ts";
import type { Budget } from "../results.ts";
import { processorTime } from "./processor-time.ts";

const answers = 15;
/** Measured before folds were held: milliseconds for one of ten thousand. */
const before = 359;

const gated = createWorkflow({ id: "gates", input: z.object({ n: z.number() }) }).andForEach({
  id: "each",
  concurrency: 100_000,
  items: ({ data }) => Array.from({ length: data.n }, (_, index) => index),
  step: (item) =>
    item.andThen({
      id: "gate",
      execute: ({ data, suspend, resumeData }) => (resumeData === undefined ? suspend("gate") : data),
    }),
});

export async function gates(folder: string): Promise<Budget> {
  const count = paced({ quick: 1000, short: 10_000, full: 10_000 });
  const andante = createAndante({
    workflows: { gated },
    store: sqliteStore({ path: path.join(folder, "gates.db") }),
    logger: createLogger({ level: "error" }),
  });
  const run = async (n: number) => {
    const { executionId } = await andante.execute("gates", { n });
    const times: number[] = [];
    for (let index = 0; index < answers; index++) {
      const stepId = `each[${index}]/gate`;
      times.push(await processorTime(() => andante.resume("gates", executionId, 1, { stepId })));
    }
    return median(times.slice(3));
  };
  await run(100);
  const few = await run(count / 10);
  const many = await run(count);
  await andante.close();
  return {
    name: `answering one of ${count} open gates`,
    value: `${many.toFixed(0)} ms`,
    budget: `at most ${before / 2} ms`,
    held: many <= before / 2,
    note: `${few.toFixed(1)} ms with ${count / 10} of them`,
  };
}
