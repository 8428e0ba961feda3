// Disturbances of the cluster under load: kills, freezes longer than the lease, orderly stops, restarts of PostgreSQL,
// connections that are dropped in silence, commits whose results are slow and then lost, and fail-overs that lose commits.
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../packages/core/test/support/random.ts";
import type { Cluster } from "./cluster.ts";
import type { CampaignDatabase } from "./database.ts";

export const disturbanceKinds = [
  "kill",
  "freeze",
  "stop",
  "restart",
  "crash",
  "silence",
  "slowCommit",
  "failOver",
] as const;
export type DisturbanceKind = (typeof disturbanceKinds)[number];
export type DisturbanceCounts = Record<DisturbanceKind, number>;

export interface DisturbanceOptions {
  readonly cluster: Cluster;
  readonly database: CampaignDatabase;
  readonly kinds: readonly DisturbanceKind[];
  readonly random: Random;
  readonly lease: number;
  /** Milliseconds between two of them, at least and at most. */
  readonly pause: readonly [number, number];
  /** How many there were, of each kind; counted here. */
  readonly counts: DisturbanceCounts;
  /** Ends it. Disturbances under way are finished first: nothing stays frozen or down. */
  readonly signal: AbortSignal;
}

/** Each kind in turn, in an order of its own each time round, until the signal. */
export async function disturb(options: DisturbanceOptions): Promise<void> {
  const { kinds, random, signal, pause, counts } = options;
  let round: DisturbanceKind[] = [];
  while (!signal.aborted) {
    await wait(random.integer(...pause), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    if (round.length === 0) round = random.shuffle(kinds);
    const kind = round.pop() ?? "kill";
    await befall(kind, options);
    counts[kind]++;
  }
}

async function befall(
  kind: DisturbanceKind,
  { cluster, database, random, lease }: DisturbanceOptions,
): Promise<void> {
  const place = random.integer(0, cluster.nodes.length - 1);
  const node = cluster.node(place);
  const { server, proxy } = database;
  switch (kind) {
    case "kill":
      await node.kill();
      await cluster.replace(place);
      return;
    case "stop":
      await node.stop();
      await cluster.replace(place);
      return;
    case "freeze":
      node.freeze();
      await wait(lease + random.integer(500, 2500));
      node.thaw();
      return;
    case "restart":
    case "crash":
      await (kind === "crash" ? server.crash() : server.stop());
      // Sometimes it is away for longer than a lease.
      await wait(random.integer(0, random.chance(0.3) ? lease * 1.5 : 300));
      await server.start();
      return;
    case "silence":
      // The database keeps its ends for as long as a machine that is gone would hold their locks.
      proxy.silence(lease * 3);
      return;
    case "slowCommit":
      proxy.slowCommits(random.integer(1, 10), random.integer(50, lease * 1.2));
      return;
    case "failOver":
      await database.failOver(random.integer(50, 500));
  }
}
