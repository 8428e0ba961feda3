// A campaign on a highly available PostgreSQL: load through HTTP on three nodes while the machine of the primary is killed
// again and again, then the checks.
import { setTimeout as wait } from "node:timers/promises";
import { createRandom } from "../../packages/core/test/support/random.ts";
import { loadAndCheck, type Verdict } from "./campaign.ts";
import { Cluster } from "./cluster.ts";
import { PatroniDatabase } from "./patroni.ts";

export interface FailoverOptions {
  readonly seed: number;
  /** Whether each commit waits for a replica. Otherwise replicas are 50 to 500 ms behind when the primary is killed. */
  readonly synchronous: boolean;
  /** The address that the nodes have: HAProxy's, or those of all three servers. */
  readonly way: "haproxy" | "addresses";
  readonly failovers: number;
  /** As many at least: the load lasts until the last machine has returned. */
  readonly executions: number;
  readonly clients: number;
  readonly nodes: number;
  /** Milliseconds after which an execution counts as stuck while others end. */
  readonly patience: number;
  onFailover?(seconds: number): void;
}

export interface FailoverResult extends Verdict {
  readonly failovers: number;
  /** Of those: PostgreSQL survived its Patroni. */
  readonly orphans: number;
  /** Nodes of Andante that were killed together with a primary. */
  readonly nodesKilled: number;
  /** Seconds between two ends of executions, at most. */
  readonly longestPause: number;
}

export async function runFailovers(options: FailoverOptions): Promise<FailoverResult> {
  const { seed, synchronous, way, executions, clients, nodes, patience } = options;
  const database = await PatroniDatabase.start({ synchronous });
  let cluster: Cluster | undefined;
  try {
    cluster = await Cluster.start({ nodes, lease: 2000, url: database.url(way) });
    const counts = { failovers: 0, orphans: 0, nodesKilled: 0, isOver: false };
    let [lastEnd, longestPause] = [performance.now(), 0];
    const load = {
      cluster,
      random: createRandom(seed + 1),
      executions,
      more: () => !counts.isOver,
      clients,
      patience,
      onEnd: () => {
        longestPause = Math.max(longestPause, performance.now() - lastEnd);
        lastEnd = performance.now();
      },
    };
    const disturbed = killPrimaries(database, cluster, options, counts).finally(() => {
      counts.isOver = true;
    });
    const verdict = await loadAndCheck(load, database, () => disturbed);
    return { ...verdict, ...counts, longestPause: longestPause / 1000 };
  } finally {
    await cluster?.remove();
    await database.remove();
  }
}

/**
 * With every second primary a node of Andante is killed too. Behind HAProxy, which asks Patroni, the PostgreSQL of the
 * others survives its Patroni, and would accept writes.
 */
async function killPrimaries(
  database: PatroniDatabase,
  cluster: Cluster,
  { seed, synchronous, way, failovers, onFailover }: FailoverOptions,
  counts: { failovers: number; orphans: number; nodesKilled: number },
): Promise<void> {
  const random = createRandom(seed);
  while (counts.failovers < failovers) {
    await wait(random.integer(500, 3000));
    const place = counts.failovers % 2 === 0 ? random.integer(0, cluster.nodes.length - 1) : undefined;
    if (place !== undefined) await cluster.node(place).kill();
    const began = performance.now();
    const isOrphan = way === "haproxy" && synchronous && counts.failovers % 2 === 1;
    const lag = synchronous ? 0 : random.integer(50, 500);
    const machine = await (isOrphan ? database.orphanPrimary() : database.killPrimary(lag));
    if (isOrphan) counts.orphans++;
    onFailover?.((performance.now() - began) / 1000);
    if (place !== undefined) {
      await cluster.replace(place);
      counts.nodesKilled++;
    }
    await database.restart(machine);
    counts.failovers++;
  }
}
