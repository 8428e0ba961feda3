// Measures what lies between the bare route and Andante, part by part: the server, the store's contract, the engine.
//
// Processor time for a request, all threads, in alternating rounds of one run. The last rung before the engine is the floor:
// an engine that costs nothing.
import path from "node:path";
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { inTemporaryFolder, median } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { type Contender, startContender } from "./contender.ts";
import { runLoad } from "./load.ts";
import { ours, requireBuiltPackages, startAndante, startBare } from "./servers.ts";

const rounds = paced({ quick: 3, short: 5, full: 9 });
const requests = 3000;
const warmUp = paced({ quick: 2, short: 4, full: 6 });

interface Rung {
  readonly name: string;
  readonly contender: Contender;
}

async function startRung(rung: string, folder: string): Promise<Contender> {
  const database = path.join(folder, `${rung}.db`);
  if (rung === "server") await makeTables(path.join(folder, `${rung}-bare.db`));
  return startContender({
    ...ours,
    name: rung,
    script: "rung.ts",
    database,
    more: [rung],
  });
}

async function makeTables(database: string): Promise<void> {
  const empty = createAndante({
    store: sqliteStore({ path: database }),
    logger: createLogger({ level: "error" }),
  });
  await empty.ready();
  await empty.close();
}

async function costOf({ port, path, body, cpu }: Contender, workflow: string): Promise<number> {
  const before = cpu();
  const { requests: done } = await runLoad({ port, path: path(workflow), body }, 20, requests, 30);
  return (cpu() - before) / done;
}

async function compare(rungs: readonly Rung[], workflow: string): Promise<Budget[]> {
  for (const { contender } of rungs) {
    const { port, path, body } = contender;
    await runLoad({ port, path: path(workflow), body }, 20, Number.POSITIVE_INFINITY, warmUp);
  }
  const costs = rungs.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { contender }] of rungs.entries())
      costs[index]?.push(await costOf(contender, workflow));
  }
  const floor = median(costs[0] ?? []);
  return rungs.map(({ name }, index) => {
    const cost = median(costs[index] ?? []);
    const more = index === 0 ? cost : cost - median(costs[index - 1] ?? []);
    return {
      name: `${workflow} step: ${name}`,
      value: `${(floor / cost).toFixed(2)} ×`,
      budget: "told",
      held: true,
      note: `${Math.round(cost * 1000)} µs of processor a request, ${Math.round(more * 1000)} of them its own`,
    };
  });
}

requireBuiltPackages();
await inTemporaryFolder(async (folder) => {
  const rungs: readonly Rung[] = [
    { name: "the bare Hono route", contender: await startBare(folder) },
    { name: "with the server around it", contender: await startRung("server", folder) },
    { name: "and the store's contract", contender: await startRung("store", folder) },
    { name: "and the engine: Andante", contender: await startAndante(folder) },
  ];
  try {
    const budgets = [...(await compare(rungs, "one")), ...(await compare(rungs, "three"))];
    printBudgets("Floor", budgets);
    if (isRecorded) recordBudgets("Floor", "npm run bench:floor", budgets);
  } finally {
    await Promise.all(rungs.map(({ contender }) => contender.stop()));
  }
});
