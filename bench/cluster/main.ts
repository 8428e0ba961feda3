// Measures nodes on PostgreSQL beside the same on SQLite, beside DBOS and Mastra on the same server, and beside each other,
// and nodes on Restate beside both. `--restate`: only these.
import os from "node:os";
import path from "node:path";
import { startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { hasRestate } from "../../packages/restate/test/restate-server.ts";
import { inTemporaryFolder, median } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { Contender } from "./contender.ts";
import { fillWithSuspended, resumeAmong } from "./many-suspended.ts";
import { installPeers } from "./peers.ts";
import { killOfAServer, onRestate } from "./restate.ts";
import { measureStorage } from "./storage.ts";
import { takeOver } from "./take-over.ts";

const rounds = paced({ quick: 1, short: 3, full: 5 });
const seconds = paced({ quick: 2, short: 3, full: 6 });
const suspended = paced({ quick: 20_000, short: 500_000, full: 500_000 });
const width = 50;
const lease = 2000;

const here = import.meta.dirname;
const startNode = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const execArgv = ["--conditions=andante-source"];
  return Contender.start({ script: path.join(here, "node.ts"), args, cwd: here, execArgv, env });
};
const startPeer = (folder: string, script: string, url: string) => {
  const execArgv = ["--import", "./loopback-only.mjs"];
  return Contender.start({ script: path.join(folder, script), args: [url], cwd: folder, execArgv });
};

/** Executions per second of each contender, in turn in every round, so that a slowdown of the machine affects all. */
async function compare(
  contenders: Readonly<Record<string, () => Promise<number>>>,
): Promise<Record<string, number>> {
  const rates: Record<string, number[]> = {};
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of Object.entries(contenders)) {
      const rate = await run();
      // The first round only warms up.
      if (round >= 0) rates[name] = [...(rates[name] ?? []), rate];
    }
  }
  return Object.fromEntries(Object.entries(rates).map(([name, all]) => [name, median(all)]));
}

const rate = (contender: Contender) => () => contender.perSecond(seconds, width);
const each = (value: number | undefined) => (value ?? 0).toFixed(0);

async function againstOthers(url: string, folder: string): Promise<Budget[]> {
  const peers = installPeers();
  const node = ["postgres", url, "bench"];
  const sqlite = await startNode(["sqlite", path.join(folder, "bench.db")]);
  const postgres = await startNode(node);
  const dbos = await startPeer(peers, "dbos.mjs", url);
  const mastra = await startPeer(peers, "mastra.mjs", url);
  const others = [await startNode(node), await startNode(node)];
  try {
    const rates = await compare({
      sqlite: rate(sqlite),
      postgres: rate(postgres),
      dbos: rate(dbos),
      mastra: rate(mastra),
      cluster: async () => {
        const all = await Promise.all([postgres, ...others].map((one) => one.perSecond(seconds, width)));
        return all.reduce((sum, one) => sum + one, 0);
      },
    });
    const { sqlite: file = 0, postgres: own = 0, cluster = 0 } = rates;
    const cores = os.availableParallelism();
    return [
      {
        name: "one node on PostgreSQL against the same on SQLite",
        value: `${((100 * own) / file).toFixed(0)} %`,
        budget: "at least 30 %",
        held: own / file >= 0.3,
        note: `${each(own)} against ${each(file)} executions/s of three steps, ${width} at once`,
      },
      ...["dbos", "mastra"].map((name) => ({
        name: `the same against ${name === "dbos" ? "DBOS" : "Mastra"} on the same PostgreSQL`,
        value: `${(own / (rates[name] ?? 0)).toFixed(1)} ×`,
        budget: "at least 3 ×",
        held: own / (rates[name] ?? 0) >= 3,
        note: `${each(own)} against ${each(rates[name])} executions/s`,
      })),
      {
        name: "three nodes against one",
        value: `${(cluster / own).toFixed(2)} ×`,
        budget: cores >= 6 ? "at least 1.5 ×" : "none: 1.5 × needs six cores",
        held: cores < 6 || cluster / own >= 1.5,
        note: `${each(cluster)} against ${each(own)} executions/s; ${cores} cores for three nodes and the database`,
      },
    ];
  } finally {
    for (const one of [sqlite, postgres, dbos, mastra, ...others]) await one.kill();
  }
}

async function afterAKill(url: string): Promise<Budget[]> {
  const schema = "takeover";
  const env = { BENCH_LEASE: String(lease), BENCH_HOLD: "begin" };
  const node = await startNode(["postgres", url, schema], env);
  const milliseconds = await takeOver({ url, schema, lease }, () => node.kill());
  return [
    {
      name: `take-over after a kill, lease ${lease / 1000} s`,
      value: `${(milliseconds / 1000).toFixed(2)} s`,
      budget: `at most ${lease / 1000 + 1} s`,
      held: milliseconds <= lease + 1000,
    },
  ];
}

async function besideSuspended(url: string): Promise<Budget[]> {
  const empty = await startNode(["postgres", url, "few"]);
  await fillWithSuspended(url, "many", suspended);
  const full = await startNode(["postgres", url, "many"]);
  try {
    const { few = 0, many = 0 } = await compare({ few: rate(empty), many: rate(full) });
    const resume = await resumeAmong(url, "many", suspended, 200);
    return [
      {
        name: `throughput beside ${suspended} suspended executions`,
        value: `${(100 * (1 - many / few)).toFixed(0)} % less`,
        budget: "less than 30 % less",
        held: many / few > 0.7,
        note: `${each(many)} against ${each(few)} executions/s`,
      },
      {
        name: "a resume among them, to its end, p50",
        value: `${resume.toFixed(1)} ms`,
        budget: "under 10 ms",
        held: resume < 10,
      },
    ];
  } finally {
    for (const one of [empty, full]) await one.kill();
  }
}

async function inTheDatabase(url: string): Promise<Budget[]> {
  const { tables, deletedPerSecond } = await measureStorage(
    url,
    paced({ quick: 2000, short: 5000, full: 20_000 }),
  );
  const sum = (pick: "rows" | "bytes") =>
    Object.values(tables).reduce((total, table) => total + table[pick], 0);
  return [
    {
      name: "what an ended execution of three steps takes in PostgreSQL",
      value: `${(sum("bytes") / 1000).toFixed(1)} kB`,
      budget: "none",
      held: true,
      note: `${sum("rows").toFixed(0)} rows; one retention loop deletes ${each(deletedPerSecond)} such executions/s`,
    },
  ];
}

/** Before anything runs here: other load on this machine is part of every figure. */
const load = os.loadavg()[0] ?? 0;

const budgets = await inTemporaryFolder(async (folder) => {
  // Commits reach the disk, as they do with SQLite.
  const server = await startPostgres({ fsync: "on", max_connections: 120, shared_buffers: "256MB" });
  const measured: Budget[] = [];
  const onPostgres = [
    afterAKill,
    inTheDatabase,
    (url: string) => againstOthers(url, folder),
    besideSuspended,
  ];
  const onlyRestate = process.argv.includes("--restate");
  const stages = [
    ...(onlyRestate ? [] : onPostgres),
    ...(hasRestate ? [(url: string) => onRestate(url, folder, startNode), killOfAServer] : []),
  ];
  try {
    for (const stage of stages) {
      const some = await stage(server.url);
      printBudgets("Cluster", some);
      measured.push(...some);
    }
  } finally {
    await server.remove();
  }
  return measured;
});
const loadBefore = load.toFixed(0);
budgets.push({ name: "load of other work when it began", value: loadBefore, budget: "none", held: true });
if (isRecorded && process.argv.includes("--restate"))
  recordBudgets("Restate", "npm run bench:cluster -- --restate", budgets);
else if (isRecorded) recordBudgets("Cluster", "npm run bench:cluster", budgets);
process.exitCode = budgets.every(({ held }) => held) ? 0 : 1;
