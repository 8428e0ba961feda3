// Disturbances of the cluster under load: kills, freezes longer than the lease and orderly stops of nodes, and those of the
// store's servers.
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../packages/core/test/support/random.ts";
import type { Cluster } from "./cluster.ts";

/** Each resolves when it is over: nothing stays frozen or down. */
export type Disturbances = Readonly<Record<string, () => Promise<void>>>;

export interface DisturbanceOptions {
  readonly kinds: Disturbances;
  readonly random: Random;
  /** Milliseconds between two of them, at least and at most. */
  readonly pause: readonly [number, number];
  /** How many there were, of each kind; counted here. */
  readonly counts: Record<string, number>;
  /** Ends it, after the disturbance under way. */
  readonly signal: AbortSignal;
}

/** Each kind in turn, in an order of its own each time round, until the signal. */
export async function disturb({ kinds, random, signal, pause, counts }: DisturbanceOptions): Promise<void> {
  let round: string[] = [];
  while (!signal.aborted) {
    await wait(random.integer(...pause), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    if (round.length === 0) round = random.shuffle(Object.keys(kinds));
    const kind = round.pop() ?? "";
    await kinds[kind]?.();
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
}

/** The disturbances of nodes. */
export function nodeDisturbances(cluster: Cluster, random: Random, lease: number): Disturbances {
  const anyPlace = () => random.integer(0, cluster.nodes.length - 1);
  return {
    kill: async () => {
      const place = anyPlace();
      await cluster.node(place).kill();
      await cluster.replace(place);
    },
    stop: async () => {
      const place = anyPlace();
      await cluster.node(place).stop();
      await cluster.replace(place);
    },
    freeze: async () => {
      const node = cluster.node(anyPlace());
      node.freeze();
      await wait(frozenTime(random, lease));
      node.thaw();
    },
  };
}

/** Milliseconds of a freeze: longer than the lease. */
export function frozenTime(random: Random, lease: number): number {
  return lease + random.integer(500, 2500);
}

/** Milliseconds for which a server is down: sometimes longer than a lease. */
export function downTime(random: Random, lease: number): number {
  return random.integer(0, random.chance(0.3) ? lease * 1.5 : 300);
}
