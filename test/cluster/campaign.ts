// A campaign: load through HTTP on three nodes while nodes and database are disturbed, then the checks.
import { createRandom } from "../../packages/core/test/support/random.ts";
import { checkAll, lateRuns } from "./checks.ts";
import { Cluster } from "./cluster.ts";
import { CampaignDatabase } from "./database.ts";
import { type DisturbanceCounts, type DisturbanceKind, disturb, disturbanceKinds } from "./disturbances.ts";
import { carryAgain, runLoad } from "./load.ts";
import { allLosses, type Loss } from "./loss.ts";
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
  /** Which kinds of disturbances. Default: all. */
  readonly kinds?: readonly DisturbanceKind[];
  onEnd?(ended: number): void;
}

export interface CampaignResult {
  readonly problems: readonly string[];
  readonly disturbances: DisturbanceCounts;
  /** The commits that each fail-over lost. */
  readonly losses: readonly Loss[];
  readonly executions: number;
  /** Runs of bodies, in all. */
  readonly bodies: number;
  /** Of those: began after the step's outcome was recorded, by a node that had lost its claim and did not know yet. */
  readonly late: number;
}

const none = {
  kill: 0,
  freeze: 0,
  stop: 0,
  restart: 0,
  crash: 0,
  silence: 0,
  slowCommit: 0,
  failOver: 0,
};

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, executions, clients, lease, pause, patience, kinds = disturbanceKinds } = options;
  const database = await CampaignDatabase.start();
  const cluster = await Cluster.start({ nodes: 3, lease, url: database.url });
  try {
    const over = new AbortController();
    let ended = 0;
    const onEnd = () => options.onEnd?.(++ended);
    // Two sequences of choices, so that the disturbances of nodes do not depend on the progress of clients.
    const disturbances: DisturbanceCounts = { ...none };
    const { signal } = over;
    const disturbed = disturb({
      cluster,
      database,
      kinds,
      random: createRandom(seed),
      lease,
      pause,
      counts: disturbances,
      signal,
    });
    const more = () => kinds.some((kind) => disturbances[kind] === 0);
    const random = createRandom(seed + 1);
    const load = { cluster, random, executions, more, clients, patience, onEnd };
    const started = await runLoad(load).finally(() => over.abort());
    await disturbed;
    const lost = allLosses(database.losses);
    const url = database.server.url;
    // Executions that a fail-over set back continue, and their clients, who had seen the end, resume open suspensions again.
    const setBack = started.filter(({ executionId }) => lost.setBack.has(executionId));
    const known = await readRemains(url);
    const again = await carryAgain(
      setBack.filter(({ executionId }) => known.has(executionId)),
      load,
    );
    const remains = await readRemains(url);
    const bodies = readBodies(cluster.log);
    const told = new Map([...started, ...again].map((each) => [each.executionId, each]));
    return {
      problems: checkAll([...told.values()], remains, bodies, lost),
      disturbances,
      losses: database.losses,
      executions: started.length,
      bodies: bodies.length,
      late: lateRuns(remains, bodies),
    };
  } finally {
    await cluster.remove();
    await database.remove();
  }
}
