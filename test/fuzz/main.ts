// npm run fuzz [requests] [sessions]: requests and socket sessions of every kind against a served process, and one request
// of a hostile size for every 200 others, alone and within a bound.
//
// FUZZ_SEED repeats an earlier campaign: each lane sends the same again, though the requests beside it may differ.
import { runFuzz } from "./campaign.ts";

const requests = Number(process.argv[2] ?? 100_000);
const sessions = Number(process.argv[3] ?? 10_000);
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
if (![requests, sessions, seed].every((number) => Number.isInteger(number) && number >= 0)) {
  throw new Error("usage: npm run fuzz [requests] [sessions], with a whole number in FUZZ_SEED");
}

say(`fuzz: ${requests} requests and ${sessions} socket sessions, FUZZ_SEED=${seed}`);
const began = performance.now();
const ledger = await runFuzz({
  seed,
  requests,
  sessions,
  hostile: Math.ceil(requests / 200),
  onMode: (mode, soFar) =>
    say(`${seconds()}: ${mode}, so far ${soFar.requests} requests and ${soFar.sessions} sessions`),
});
for (const line of ledger.lines()) say(line);
for (const problem of ledger.problems) say(`FAILED ${problem}`);
const ok = ledger.problems.length === 0 && ledger.requests >= requests && ledger.sessions >= sessions;
say(`${seconds()}: ${ok ? "every response was one that was designed" : "FAILED"}`);
process.exitCode = ok ? 0 : 1;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function seconds(): string {
  return `${Math.round((performance.now() - began) / 1000)} s`;
}
