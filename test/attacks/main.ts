// npm run attacks [seconds] [each]: every attack on a served process at once; with `each`, one after another against a
// fresh process, to see which of them breaks a bound. Measures delays, so the machine must have no other work.
import { attacks } from "./attacks.ts";
import { type CampaignResult, maxDelay, maxMemory, runAttacks } from "./campaign.ts";

const seconds = Number(process.argv[2] ?? 60);
const isEach = process.argv[3] === "each";
if (!Number.isInteger(seconds) || seconds < 1) throw new Error("usage: npm run attacks [seconds] [each]");

const names = attacks.map(({ name }) => name);
say(
  `attacks: ${names.length} ${isEach ? "one after another" : "at once"}, ${seconds} s, bounds ${maxMemory} MiB and ${maxDelay} ms`,
);
const results: CampaignResult[] = [];
for (const some of isEach ? names.map((name) => [name]) : [names]) {
  const result = await runAttacks({ names: some, seconds, quiet: true });
  results.push(result);
  for (const { name, seen, broken } of result.outcomes) {
    const counts = Object.entries(seen).map(([outcome, count]) => `${outcome}: ${count}`);
    say(`${broken.length === 0 ? "  " : "! "}${name.padEnd(64)} ${counts.join(", ")}`);
  }
  const { memory, median, slowest, slowestOwn, served, slowestServed, slowestConnection } = result;
  say(
    `  at most ${memory} MiB resident; /health took ${median} ms, at most ${slowest} ms, ${slowestOwn} of its own`,
  );
  say(`  ${served} requests of another user were served, the slowest in ${slowestServed} ms`);
  say(`  new connections waited for their first response for at most ${slowestConnection} ms (no bound)`);
  for (const problem of result.problems) say(`FAILED ${problem}`);
}
const ok = results.every(({ problems }) => problems.length === 0);
say(ok ? "every bound held" : "FAILED");
process.exitCode = ok ? 0 : 1;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
