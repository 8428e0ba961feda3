// Measures execute over HTTP beside peers and beside a bare route with the same commits, in one run.
//
// The peers are installed from npm into a folder of their own, never as dependencies of the project, and run behind a
// guard that refuses every connection but loopback.
import path from "node:path";
import { inTemporaryFolder, median } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { type Contender, runAlone, startContender } from "./contender.ts";
import { firstEvent, type LoadResult, runLoad } from "./load.ts";
import { comparePairs } from "./pairs.ts";
import { guarded, installPeers } from "./peers.ts";
import { ours, requireBuiltPackages, startAndante, startBare } from "./servers.ts";

const rounds = paced({ quick: 1, short: 5, full: 5 });
const seconds = paced({ quick: 2, short: 3, full: 5 });
const warmUp = paced({ quick: 1, short: 2, full: 4 });

async function startAll(folder: string, peers: string): Promise<Record<string, Contender>> {
  const peer = { ...ours, folder: peers, nodeArguments: guarded };
  const file = (name: string) => path.join(folder, `${name}.db`);
  return {
    andante: await startAndante(folder),
    untraced: await startAndante(folder, "untraced"),
    unsearched: await startAndante(folder, "unsearched"),
    bare: await startBare(folder),
    voltagent: await startContender({
      ...peer,
      name: "VoltAgent, LibSQL file",
      script: "voltagent.mjs",
      database: file("voltagent"),
    }),
    memory: await startContender({
      ...peer,
      name: "VoltAgent, in memory",
      script: "voltagent.mjs",
      database: "memory",
    }),
    mastra: await startContender({
      ...peer,
      name: "Mastra, LibSQL file",
      script: "mastra.mjs",
      database: file("mastra"),
      path: (id) => `/api/workflows/${id}/start-async`,
      body: '{"inputData":{"n":1}}',
      resume: (id) => ({
        path: `/api/workflows/gate/resume-async?runId=${id}`,
        body: '{"step":"wait","resumeData":{"ok":true}}',
      }),
    }),
  };
}

interface Measured extends LoadResult {
  /** Milliseconds of processor time per request. */
  readonly cpu: number;
}

async function measure(contender: Contender, workflow: string): Promise<Measured> {
  const load = { port: contender.port, path: contender.path(workflow), body: contender.body };
  // Each waits for half a minute while the others are measured, and its compiled code is discarded meanwhile.
  await runLoad(load, 20, Number.POSITIVE_INFINITY, warmUp);
  const before = contender.cpu();
  const result = await runLoad(load, 20, Number.POSITIVE_INFINITY, seconds);
  return { ...result, cpu: (contender.cpu() - before) / result.requests };
}

async function measureAll(
  contenders: Record<string, Contender>,
  workflow: string,
): Promise<Record<string, readonly Measured[]>> {
  const results: Record<string, Measured[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [key, contender] of Object.entries(contenders)) {
      runAlone(contenders, contender);
      const measured = await measure(contender, workflow);
      results[key] = [...(results[key] ?? []), measured];
    }
  }
  return results;
}

function middle(all: readonly Measured[]): Measured {
  const of = (pick: (measured: Measured) => number) => median(all.map(pick));
  return {
    perSecond: of((m) => m.perSecond),
    p50: of((m) => m.p50),
    p99: of((m) => m.p99),
    cpu: of((m) => m.cpu),
    requests: of((m) => m.requests),
  };
}

/** How many times as fast as each of them. */
const factors: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  one: { voltagent: 14, mastra: 7, memory: 4.5, bare: 0.7, unsearched: 0.95 },
  three: { voltagent: 20, mastra: 9, memory: 5.5, bare: 0.7, unsearched: 0.95 },
};

function compare(
  workflow: string,
  results: Record<string, readonly Measured[]>,
  contenders: Record<string, Contender>,
): Budget[] {
  // The bare route observes nothing: it is held against us as we come, and without tracing too.
  const pairs = [
    ...Object.keys(factors[workflow] ?? {}).map((key) => ["andante", key]),
    ["untraced", "bare"],
  ];
  return pairs.flatMap(([own = "", key = ""]) => {
    const [allOurs, allTheirs] = [results[own], results[key]];
    const factor = factors[workflow]?.[key];
    if (allTheirs === undefined || allOurs === undefined || factor === undefined) return [];
    const [ours, theirs] = [middle(allOurs), middle(allTheirs)];
    const isPeer = key !== "bare" && key !== "unsearched";
    const without = own === "untraced" ? " without tracing" : "";
    const steps = workflow === "one" ? "one step" : "three steps";
    const other = key === "unsearched" ? "the same without search in values" : contenders[key]?.name;
    const name = `${steps}${without}, against ${other}`;
    // Within each round: a machine that is slower for a while is slower for both.
    const ratio = median(
      allOurs.map(({ perSecond }, round) => perSecond / (allTheirs[round]?.perSecond ?? 0)),
    );
    const note = `${ours.perSecond.toFixed(0)} against ${theirs.perSecond.toFixed(0)} requests/s; ${ours.cpu.toFixed(2)} against ${theirs.cpu.toFixed(2)} ms of processor a request`;
    const budget: Budget = {
      name,
      value: `${ratio.toFixed(2)} ×`,
      budget: `at least ${factor} ×`,
      held: ratio >= factor,
      note,
    };
    if (!isPeer) return [budget];
    const p99 = {
      name: `${name}, p99`,
      value: `${ours.p99.toFixed(1)} ms`,
      budget: `below ${theirs.p99.toFixed(1)} ms`,
      held: ours.p99 < theirs.p99,
    };
    return [budget, p99];
  });
}

async function streams(contenders: Record<string, Contender>): Promise<Budget> {
  const { andante, bare } = contenders;
  if (andante === undefined || bare === undefined) throw new Error("they were not started");
  runAlone(contenders, andante, bare);
  const [mine, theirs]: [number[], number[]] = [[], []];
  const first = ({ port }: Contender) =>
    firstEvent({ port, path: "/workflows/one/stream", body: '{"input":{"n":1}}' });
  for (let index = 0; index < paced({ quick: 60, short: 200, full: 300 }); index++) {
    mine.push(await first(andante));
    theirs.push(await first(bare));
  }
  const [ours, route] = [median(mine), median(theirs)];
  return {
    name: "first event of a stream, against a bare Hono stream without commits",
    value: `${(ours / route).toFixed(2)} ×`,
    budget: "within 2 ×",
    held: ours <= 2 * route,
    note: `${ours.toFixed(2)} ms against ${route.toFixed(2)} ms`,
  };
}

async function memory(andante: Contender): Promise<Budget> {
  const load = { port: andante.port, path: andante.path("one"), body: andante.body };
  // The heap and the database's cache take that long to reach their size.
  await runLoad(load, 20, paced({ quick: 2000, short: 100_000, full: 100_000 }), 60);
  const before = andante.memory();
  const { requests } = await runLoad(load, 20, paced({ quick: 5000, short: 200_000, full: 200_000 }), 180);
  const growth = andante.memory() / before - 1;
  return {
    name: `memory over ${requests} requests`,
    value: `${growth >= 0 ? "+" : ""}${(growth * 100).toFixed(1)} %`,
    budget: "flat, within 15 %",
    held: growth < 0.15,
    note: `${before.toFixed(0)} MB before`,
  };
}

requireBuiltPackages();
const peers = installPeers();
const budgets = await inTemporaryFolder(async (folder) => {
  const contenders = await startAll(folder, peers);
  try {
    const all: Budget[] = [];
    for (const workflow of ["one", "three"])
      all.push(...compare(workflow, await measureAll(contenders, workflow), contenders));
    all.push(...(await comparePairs(contenders, { rounds, seconds, warmUp })));
    all.push(await streams(contenders));
    if (contenders.andante) all.push(await memory(contenders.andante));
    return all;
  } finally {
    await Promise.all(Object.values(contenders).map((contender) => contender.stop()));
  }
});
printBudgets("HTTP", budgets);
if (isRecorded) recordBudgets("HTTP", "npm run bench:http", budgets);
process.exitCode = budgets.every((budget) => budget.held) ? 0 : 1;
