// npm run chaos:cluster [executions]: three nodes on PostgreSQL under load, with kills, freezes, orderly stops, restarts of
// the database, connections dropped in silence, slow commits and lossy fail-overs, and the checks that nothing is stuck or
// written twice, and nothing lost but the commits that a fail-over lost. Without a number: 3 000 executions.
//
// With --restate: on three Restate servers, which are killed and frozen too.
//
// With --schedules [seconds]: 200 schedules on three nodes with PostgreSQL fire every second for five minutes, while a node is
// killed every ten seconds.
//
// ANDANTE_CHAOS_SEED repeats the choices of an earlier campaign; their timing against the load differs each time.
// ANDANTE_CHAOS_FAULTS=silence,failOver has only these.
import { parseArgs } from "node:util";
import { runCampaign } from "./campaign.ts";
import { runScheduleCampaign } from "./schedule-campaign.ts";

const { values, positionals } = parseArgs({
  options: { restate: { type: "boolean", default: false }, schedules: { type: "boolean", default: false } },
  allowPositionals: true,
});
const began = performance.now();
if (values.schedules) await fireSchedules(Number(positionals[0] ?? 300));
const executions = Number(positionals[0] ?? 3000);
const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
if (![executions, seed].every((number) => Number.isInteger(number) && number >= 0))
  throw new Error("usage: npm run chaos:cluster [executions], with a whole number in ANDANTE_CHAOS_SEED");

say(`chaos:cluster: ${executions} executions, ANDANTE_CHAOS_SEED=${seed}`);
const result = await runCampaign({
  store: values.restate ? "restate" : "postgres",
  seed,
  executions,
  kinds: process.env.ANDANTE_CHAOS_FAULTS?.split(","),
  clients: 40,
  // A commit on three Restate servers takes tens of milliseconds, so a heartbeat may wait for longer.
  lease: values.restate ? 10_000 : 2000,
  pause: [500, 3000],
  patience: 180_000,
  onEnd: (ended) => {
    if (ended % 250 === 0) say(`${seconds()}: ${ended} executions`);
  },
});
for (const problem of result.problems) say(`FAILED ${problem}`);
const disturbances = Object.entries(result.disturbances).map(([kind, count]) => `${count} ${kind}`);
say(`${seconds()}: ${disturbances.join(", ")}`);
for (const { commits, unknown, setBack, ended } of result.losses)
  say(
    `a fail-over lost ${commits} acknowledged commits: ${unknown.size} executions unknown, ${setBack.size} set back, ${ended} of them had ended`,
  );
say(
  `${result.bodies} runs of bodies, ${result.late} of them by a node that did not know yet that it was taken over`,
);
say(`${result.executions} executions, ${result.problems.length} problems`);
process.exitCode = result.problems.length === 0 ? 0 : 1;

async function fireSchedules(lasts: number): Promise<never> {
  say(`chaos:cluster: 200 schedules fire every second for ${lasts} s`);
  const { problems, kills, executions, late } = await runScheduleCampaign({
    ...{ schedules: 200, lasts: lasts * 1000, killEvery: 10_000, lease: 2000 },
    onKill: (count) => say(`${seconds()}: ${count} kills`),
  });
  for (const problem of problems.slice(0, 100)) say(`FAILED ${problem}`);
  say(`${kills} kills, ${executions} executions, late by ${late.p50} ms, one in a hundred by ${late.p99} ms`);
  say(`${problems.length} problems`);
  process.exit(problems.length === 0 ? 0 : 1);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function seconds(): string {
  return `${Math.round((performance.now() - began) / 1000)} s`;
}
