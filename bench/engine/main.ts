// Measures the engine beside a bare writer of the same rows, in one run: machines are noisy, ratios are not.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { uuid } from "../../packages/core/src/values/uuid.ts";
import { inTemporaryFolder, median, percentile, residentMegabytes, throughput } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { startBareWriter } from "./bare-writer.ts";
import { lists } from "./lists.ts";
import { sleepers } from "./sleepers.ts";
import { writeExecution } from "./store-calls.ts";
import { gate, three } from "./workflows.ts";

const scale = paced({ quick: 0.05, short: 0.5, full: 1 });
/** Executions before anything is measured: each round has a thread of its own, whose code has to be compiled. */
const warmUp = Math.ceil(20_000 * scale);
const logger = createLogger({ level: "error" });
const open = (file: string) =>
  createAndante({ workflows: { three, gate }, store: sqliteStore({ path: file }), logger });

async function besideBareWriter(folder: string): Promise<Budget[]> {
  const ours: number[] = [];
  const bare: number[] = [];
  const contract: number[] = [];
  const delays: number[] = [];
  for (let round = 0; round < 3; round++) {
    const count = Math.ceil(20_000 * scale);
    const andante = open(path.join(folder, `ours-${round}.db`));
    await andante.ready();
    await throughput(warmUp, 50, () => andante.execute("three", { n: 1 }));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    ours.push(await throughput(count, 50, () => andante.execute("three", { n: 1 })));
    delay.disable();
    delays.push(delay.percentile(99) / 1e6);
    await andante.close();

    bare.push(await bareThroughput(path.join(folder, `bare-${round}.db`), count));
    contract.push(await storeThroughput(path.join(folder, `store-${round}.db`), count));
  }
  const share = median(ours) / median(bare);
  return [
    {
      name: "three steps, 50 at once, share of a bare grouped writer",
      value: `${(share * 100).toFixed(0)} %`,
      budget: "at least 65 %",
      held: share >= 0.65,
      note: `${median(ours).toFixed(0)} against ${median(bare).toFixed(0)} executions/s`,
    },
    {
      name: "the same calls of the store without an engine, share of the bare grouped writer",
      value: `${((median(contract) / median(bare)) * 100).toFixed(0)} %`,
      budget: "none",
      held: true,
      note: `${median(contract).toFixed(0)} executions/s`,
    },
    {
      name: "event-loop delay p99 at that load",
      value: `${median(delays).toFixed(1)} ms`,
      budget: "under 10 ms",
      held: median(delays) < 10,
    },
  ];
}

async function bareThroughput(file: string, count: number): Promise<number> {
  const empty = open(file);
  await empty.ready();
  await empty.close();
  const writer = startBareWriter(file);
  const run = () => writer.execution(uuid(), 3);
  await throughput(warmUp, 50, run);
  const rate = await throughput(count, 50, run);
  await writer.close();
  return rate;
}

/** The throughput of an engine without cost. */
async function storeThroughput(file: string, count: number): Promise<number> {
  const store = sqliteStore({ path: file });
  await store.open();
  const run = () => writeExecution(store, uuid(), 3);
  await throughput(warmUp, 50, run);
  const rate = await throughput(count, 50, run);
  await store.close();
  return rate;
}

async function oneAtATime(folder: string): Promise<Budget> {
  const andante = open(path.join(folder, "single.db"));
  const times: number[] = [];
  for (let index = 0; index < Math.ceil(3000 * scale) + 300; index++) {
    const start = performance.now();
    await andante.execute("three", { n: index });
    if (index >= 300) times.push(performance.now() - start);
  }
  await andante.close();
  const p50 = percentile(times, 0.5);
  return {
    name: "three steps, one at a time, p50",
    value: `${p50.toFixed(2)} ms`,
    budget: "under 1.5 ms",
    held: p50 < 1.5,
  };
}

async function suspended(folder: string): Promise<Budget[]> {
  const file = path.join(folder, "suspended.db");
  let andante = open(file);
  /** Suspended executions are not held in memory then. */
  const reopen = async () => {
    await andante.close();
    andante = open(file);
    await andante.ready();
  };
  const resumeTimes = async (ids: readonly string[]) => {
    const times: number[] = [];
    for (const id of ids) {
      const start = performance.now();
      await andante.resume("gate", id, "go");
      times.push(performance.now() - start);
    }
    return median(times.slice(times.length / 2));
  };
  const suspend = async () => (await andante.execute("gate", { n: 1 })).executionId;
  const few: string[] = [];
  for (let index = 0; index < 810; index++) few.push(await suspend());
  const held = await resumeTimes(few.splice(0, 400));
  await reopen();
  const withTen = await resumeTimes(few.splice(0, 400));
  const count = Math.ceil(100_000 * scale);
  const many: string[] = [];
  await throughput(count, 50, async (index) => {
    const id = await suspend();
    if (index % Math.ceil(count / 400) === 0) many.push(id);
  });
  await reopen();
  const withMany = await resumeTimes(many.slice(0, -1));
  await andante.close();
  // In processes of their own: the memory of this one grew by starting them, not by their waiting.
  const idle = idleMegabytes(path.join(folder, "idle.db"));
  const grown = idleMegabytes(file, many.at(-1)) - idle;
  const ratio = withMany / withTen;
  return [
    {
      name: `${count} suspended executions, memory of the process`,
      value: `${grown.toFixed(0)} MB more`,
      budget: "within 20 MB of idle",
      held: grown < 20,
      note: `${idle.toFixed(0)} MB idle`,
    },
    {
      name: "resuming one of them, against one of ten",
      value: `${ratio.toFixed(2)} ×`,
      budget: "the same (under 1.3 ×)",
      held: ratio < 1.3,
      note: `${withMany.toFixed(2)} ms against ${withTen.toFixed(2)} ms from the store; ${held.toFixed(2)} ms where it went idle here`,
    },
  ];
}

/** The memory of a fresh process that has opened this file and resumed one execution. */
function idleMegabytes(file: string, executionId?: string): number {
  const script = path.join(import.meta.dirname, "idle-memory.ts");
  const args = [
    "--conditions=andante-source",
    "--expose-gc",
    script,
    file,
    ...(executionId ? [executionId] : []),
  ];
  return median(
    [1, 2, 3].map((round) =>
      Number(execFileSync(process.execPath, round === 1 ? args : args.slice(0, 4), { encoding: "utf8" })),
    ),
  );
}

async function longRun(folder: string): Promise<Budget[]> {
  const andante = open(path.join(folder, "long.db"));
  const count = Math.ceil(200_000 * scale);
  await throughput(Math.ceil(count / 10), 50, () => andante.execute("three", { n: 1 }));
  const before = residentMegabytes();
  const resources = process.getActiveResourcesInfo().length;
  await throughput(count, 50, () => andante.execute("three", { n: 1 }));
  const growth = residentMegabytes() / before - 1;
  const left = process.getActiveResourcesInfo().length - resources;
  await andante.close();
  return [
    {
      name: `memory over ${count} executions`,
      value: `${growth >= 0 ? "+" : ""}${(growth * 100).toFixed(1)} %`,
      budget: "flat, within 15 %",
      held: Math.abs(growth) < 0.15,
      note: `${before.toFixed(0)} MB before`,
    },
    { name: "timers and handles left after them", value: String(left), budget: "none", held: left <= 0 },
  ];
}

const budgets = await inTemporaryFolder(async (folder) => [
  ...(await besideBareWriter(folder)),
  await oneAtATime(folder),
  ...(await suspended(folder)),
  ...lists(folder, scale),
  ...(await sleepers(folder, scale, idleMegabytes)),
  ...(await longRun(folder)),
]);
printBudgets("Engine", budgets);
if (isRecorded) recordBudgets("Engine", "npm run bench", budgets);
process.exitCode = budgets.every((budget) => budget.held) ? 0 : 1;
