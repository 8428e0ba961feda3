// npm run chaos:failover [fail-overs]: three nodes on a PostgreSQL of three machines with Patroni, etcd and HAProxy; the
// machine of the primary is killed under load, with synchronous replication behind HAProxy, the same with the addresses of
// all machines, and with asynchronous replication behind HAProxy. Without a number: 6 fail-overs of each.
//
// ANDANTE_CHAOS_SEED repeats the choices of an earlier campaign; their timing against the load differs each time.
import { type FailoverResult, runFailovers } from "./patroni-campaign.ts";

const failovers = Number(process.argv[2] ?? 6);
const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
if (![failovers, seed].every((number) => Number.isInteger(number) && number >= 0))
  throw new Error("usage: npm run chaos:failover [fail-overs], with a whole number in ANDANTE_CHAOS_SEED");
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const kinds = [
  { name: "synchronous, HAProxy", synchronous: true, way: "haproxy" },
  { name: "synchronous, three addresses", synchronous: true, way: "addresses" },
  { name: "asynchronous, HAProxy", synchronous: false, way: "haproxy" },
] as const;

say(`chaos:failover: ${failovers} fail-overs of each kind, ANDANTE_CHAOS_SEED=${seed}`);
for (const { name, synchronous, way } of kinds) {
  const result = await runFailovers({
    seed,
    synchronous,
    way,
    failovers,
    executions: 300,
    clients: 40,
    nodes: 3,
    patience: 180_000,
    onFailover: (seconds) => say(`${name}: a replica is the primary after ${seconds.toFixed(1)} s`),
  });
  report(name, result);
  if (result.problems.length > 0) process.exitCode = 1;
}

function report(name: string, result: FailoverResult): void {
  for (const problem of result.problems) say(`FAILED ${problem}`);
  for (const { commits, unknown, setBack, ended } of result.losses)
    say(
      `${name}: a fail-over lost ${commits} acknowledged commits: ${unknown.size} executions unknown, ${setBack.size} set back, ${ended} of them had ended`,
    );
  const { executions, failovers: primaries, orphans, nodesKilled, bodies, longestPause, problems } = result;
  say(
    `${name}: ${executions} executions, ${bodies} runs of bodies, ${primaries} fail-overs, ${orphans} of them by a kill of Patroni alone, ${nodesKilled} nodes killed, longest pause ${longestPause.toFixed(1)} s, ${problems.length} problems`,
  );
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
