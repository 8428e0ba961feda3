// The short version of `npm run chaos:failover`: fail-overs with synchronous replication. Those that lose commits are part of
// every campaign on a cluster. Without Patroni, etcd and HAProxy it is left out (vitest.config.ts).
import { expect, test } from "vitest";
import { runFailovers } from "./patroni-campaign.ts";

const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`nothing is lost when machines of primaries are killed, or Patroni alone (ANDANTE_CHAOS_SEED=${seed})`, {
  timeout: 300_000,
}, async () => {
  const { problems, failovers, orphans } = await runFailovers({
    seed,
    synchronous: true,
    way: "haproxy",
    failovers: 2,
    executions: 60,
    clients: 20,
    nodes: 2,
    patience: 120_000,
  });
  expect(problems).toEqual([]);
  expect([failovers, orphans]).toEqual([2, 1]);
});
