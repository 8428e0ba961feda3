// A campaign: load through HTTP on three nodes while nodes and database are disturbed, then the checks.
import { createRandom } from "../../packages/core/test/support/random.ts";
import { checkAll, lateRuns } from "./checks.ts";
import { Cluster } from "./cluster.ts";
import { type DisturbanceCounts, disturb } from "./disturbances.ts";
import { runLoad } from "./load.ts";
import { readRemains } from "./remains.ts";
import { readBodies } from "./side-log.ts";

export interface CampaignOptions {
  readonly seed: number;
  /** As many at least: the load lasts until each kind of disturbance has happened under it. */
  readonly executions: number;
  readonly clients: number;
  readonly lease: number;
  readonly pause: readonly [number, number];
  /** Milliseconds after which an execution counts as stuck while others end. */
  readonly patience: number;
  onEnd?(ended: number): void;
}

export interface CampaignResult {
  readonly problems: readonly string[];
  readonly disturbances: DisturbanceCounts;
  readonly executions: number;
  /** Runs of bodies, in all. */
  readonly bodies: number;
  /** Of those: began after the step's outcome was recorded, by a node that had lost its claim and did not know yet. */
  readonly late: number;
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, executions, clients, lease, pause, patience } = options;
  const cluster = await Cluster.start({ nodes: 3, lease });
  try {
    const over = new AbortController();
    let ended = 0;
    const onEnd = () => options.onEnd?.(++ended);
    // Two rows of choices, so that what befalls the nodes does not depend on how the clients fare.
    const disturbances: DisturbanceCounts = { kill: 0, freeze: 0, stop: 0, restart: 0, crash: 0 };
    const { signal } = over;
    const disturbed = disturb({
      cluster,
      random: createRandom(seed),
      lease,
      pause,
      counts: disturbances,
      signal,
    });
    const more = () => Object.values(disturbances).includes(0);
    const random = createRandom(seed + 1);
    const loaded = runLoad({ cluster, random, executions, more, clients, patience, onEnd });
    const started = await loaded.finally(() => over.abort());
    await disturbed;
    const remains = await readRemains(cluster.postgres.url);
    const bodies = readBodies(cluster.log);
    return {
      problems: checkAll(started, remains, bodies),
      disturbances,
      executions: started.length,
      bodies: bodies.length,
      late: lateRuns(remains, bodies),
    };
  } finally {
    await cluster.remove();
  }
}
