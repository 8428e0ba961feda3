// Measures the cost of each part between the bare route and Andante: the server, the store's contract, the engine.
//
// Processor time for a request, or for the two of a pair, all threads, in alternating rounds of one run. The last rung before the engine is the floor:
// an engine that costs nothing.
import path from "node:path";
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { inTemporaryFolder, median } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { type Contender, startContender } from "./contender.ts";
import { type NextRequest, requestText, runRequests } from "./load.ts";
import { startAndResume } from "./pairs.ts";
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

/** The request that is repeated. */
interface Task {
  readonly name: string;
  /** How many requests are one of it. */
  readonly requests: number;
  readonly next: (contender: Contender) => () => NextRequest;
}

const execute = (workflow: string): Task => ({
  name: `${workflow} step`,
  requests: 1,
  next:
    ({ path, body }) =>
    () =>
    () =>
      requestText({ path: path(workflow), body }),
});
const pair: Task = { name: "suspend and resume", requests: 2, next: startAndResume };

function run(contender: Contender, { next }: Task, count: number, seconds: number) {
  return runRequests(contender.port, next(contender), 20, count, seconds);
}

async function costOf(contender: Contender, task: Task): Promise<number> {
  const before = contender.cpu();
  const { requests: done } = await run(contender, task, requests, 30);
  return ((contender.cpu() - before) / done) * task.requests;
}

async function compare(rungs: readonly Rung[], task: Task): Promise<Budget[]> {
  for (const { contender } of rungs) await run(contender, task, Number.POSITIVE_INFINITY, warmUp);
  const costs = rungs.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { contender }] of rungs.entries()) costs[index]?.push(await costOf(contender, task));
  }
  const floor = median(costs[0] ?? []);
  return rungs.map(({ name }, index) => {
    const cost = median(costs[index] ?? []);
    const more = index === 0 ? cost : cost - median(costs[index - 1] ?? []);
    return {
      name: `${task.name}: ${name}`,
      value: `${(floor / cost).toFixed(2)} ×`,
      budget: "none",
      held: true,
      note: `${Math.round(cost * 1000)} µs of processor, ${Math.round(more * 1000)} of them its own`,
    };
  });
}

requireBuiltPackages();
await inTemporaryFolder(async (folder) => {
  const bare = { name: "the bare Hono route", contender: await startBare(folder) };
  const server = { name: "with the server around it", contender: await startRung("server", folder) };
  const store = { name: "and the store's contract", contender: await startRung("store", folder) };
  const andante = { name: "and the engine: Andante", contender: await startAndante(folder) };
  const rungs: readonly Rung[] = [bare, server, store, andante];
  try {
    const budgets = [
      ...(await compare(rungs, execute("one"))),
      ...(await compare(rungs, execute("three"))),
      ...(await compare([bare, server, andante], pair)),
    ];
    printBudgets("Floor", budgets);
    if (isRecorded) recordBudgets("Floor", "npm run bench:floor", budgets);
  } finally {
    await Promise.all(rungs.map(({ contender }) => contender.stop()));
  }
});
