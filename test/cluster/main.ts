// npm run chaos:cluster [executions]: three nodes on PostgreSQL under load, with kills, freezes, orderly stops and restarts
// of the database, and the checks that nothing is lost, stuck or written twice. Without a number: 3 000 executions.
//
// ANDANTE_CHAOS_SEED repeats the choices of an earlier campaign; when what happens meets what runs differs each time.
import { runCampaign } from "./campaign.ts";

const executions = Number(process.argv[2] ?? 3000);
const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
if (![executions, seed].every((number) => Number.isInteger(number) && number >= 0))
  throw new Error("usage: npm run chaos:cluster [executions], with a whole number in ANDANTE_CHAOS_SEED");

say(`chaos:cluster: ${executions} executions, ANDANTE_CHAOS_SEED=${seed}`);
const began = performance.now();
const result = await runCampaign({
  seed,
  executions,
  clients: 40,
  lease: 2000,
  pause: [500, 3000],
  patience: 180_000,
  onEnd: (ended) => {
    if (ended % 250 === 0) say(`${seconds()}: ${ended} executions`);
  },
});
for (const problem of result.problems) say(`FAILED ${problem}`);
const { kill, freeze, stop, restart, crash } = result.disturbances;
say(
  `${seconds()}: ${kill} kills, ${freeze} freezes, ${stop} stops, ${restart} restarts and ${crash} crashes of PostgreSQL`,
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
