// npm run chaos:cluster [executions]: three nodes on PostgreSQL under load, with kills, freezes, orderly stops, restarts of
// the database, connections dropped in silence, slow commits and lossy fail-overs, and the checks that nothing is stuck or
// written twice, and nothing lost but the commits that a fail-over lost. Without a number: 3 000 executions.
//
// ANDANTE_CHAOS_SEED repeats the choices of an earlier campaign; their timing against the load differs each time.
// ANDANTE_CHAOS_FAULTS=silence,failOver has only these.
import { runCampaign } from "./campaign.ts";
import { disturbanceKinds } from "./disturbances.ts";

const executions = Number(process.argv[2] ?? 3000);
const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
if (![executions, seed].every((number) => Number.isInteger(number) && number >= 0))
  throw new Error("usage: npm run chaos:cluster [executions], with a whole number in ANDANTE_CHAOS_SEED");

const faults = process.env.ANDANTE_CHAOS_FAULTS?.split(",") ?? disturbanceKinds;
const kinds = disturbanceKinds.filter((kind) => faults.includes(kind));

say(`chaos:cluster: ${executions} executions, ANDANTE_CHAOS_SEED=${seed}`);
const began = performance.now();
const result = await runCampaign({
  seed,
  executions,
  kinds,
  clients: 40,
  lease: 2000,
  pause: [500, 3000],
  patience: 180_000,
  onEnd: (ended) => {
    if (ended % 250 === 0) say(`${seconds()}: ${ended} executions`);
  },
});
for (const problem of result.problems) say(`FAILED ${problem}`);
const { kill, freeze, stop, restart, crash, silence, slowCommit, failOver } = result.disturbances;
say(
  `${seconds()}: ${kill} kills, ${freeze} freezes, ${stop} stops, ${restart} restarts and ${crash} crashes of PostgreSQL`,
);
say(
  `connections were dropped in silence ${silence} times, commits were slow and lost their connection ${slowCommit} times, ${failOver} fail-overs`,
);
for (const { commits, unknown, setBack, ended } of result.losses)
  say(
    `a fail-over lost ${commits} acknowledged commits: ${unknown.size} executions unknown, ${setBack.size} set back, ${ended} of them had ended`,
  );
say(
  `${result.bodies} runs of bodies, ${result.late} of them by a node that did not know yet that it was taken over`,
);
say(`${result.executions} executions, ${result.problems.length} problems`);
process.exitCode = result.problems.length === 0 ? 0 : 1;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function seconds(): string {
  return `${Math.round((performance.now() - began) / 1000)} s`;
}
