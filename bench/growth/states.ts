// Steps that each set a key of their own: the time for a key does not grow with their number.
import path from "node:path";
import { createAndante, createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { z } from "zod";
import type { Budget } from "../results.ts";

const counts = [500, 2000];
const rounds = 3;

const setting = createWorkflow({
  id: "setting",
  input: z.object({ n: z.number(), of: z.number() }),
}).andDoWhile({
  id: "loop",
  condition: ({ data }) => data.n < data.of,
  step: (chain) =>
    chain.andThen({
      id: "set",
      execute: ({ data, setState }) => {
        setState({ [`key-${data.n}`]: data.n });
        return { ...data, n: data.n + 1 };
      },
    }),
});

export async function states(folder: string): Promise<Budget> {
  const andante = createAndante({
    workflows: { setting },
    store: sqliteStore({ path: path.join(folder, "states.db") }),
    logger: createLogger({ level: "error" }),
  });
  const run = async (of: number) => {
    const start = performance.now();
    await andante.execute("setting", { n: 0, of });
    return (performance.now() - start) / of;
  };
  await run(1000);
  const times: number[][] = counts.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, count] of counts.entries()) times[index]?.push(await run(count));
  }
  await andante.close();
  const [few = Number.NaN, many = Number.NaN] = times.map((each) => Math.min(...each));
  return {
    name: `setState with ${counts[1]} keys, time per key against ${counts[0]}`,
    value: `${(many / few).toFixed(2)} ×`,
    budget: "at most 1.5 ×",
    held: many / few <= 1.5,
    note: `${many.toFixed(3)} against ${few.toFixed(3)} ms`,
  };
}
