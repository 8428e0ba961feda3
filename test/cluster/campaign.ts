// A campaign: load through HTTP on three nodes while nodes and database are disturbed, then the checks.
import { createRandom } from "../../packages/core/test/support/random.ts";
import { checkAll, checkResults, lateRuns } from "./checks.ts";
import { Cluster } from "./cluster.ts";
import { CampaignDatabase } from "./database.ts";
import { type DisturbanceCounts, type DisturbanceKind, disturb, disturbanceKinds } from "./disturbances.ts";
import { carryAgain, type LoadOptions, runLoad } from "./load.ts";
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

export interface Verdict {
  readonly problems: readonly string[];
  /** The commits that each fail-over lost. */
  readonly losses: readonly Loss[];
  readonly executions: number;
  /** Runs of bodies, in all. */
  readonly bodies: number;
  /** Of those: began after the step's outcome was recorded, by a node that had lost its claim and did not know yet. */
  readonly late: number;
}

export interface CampaignResult extends Verdict {
  readonly disturbances: DisturbanceCounts;
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
    const verdict = await loadAndCheck(load, database, () => {
      over.abort();
      return disturbed;
    });
    return { ...verdict, disturbances };
  } finally {
    await cluster.remove();
    await database.remove();
  }
}

/** Runs the load, waits for the end of the disturbances, and checks every execution. */
export async function loadAndCheck(
  load: LoadOptions,
  database: { readonly losses: readonly Loss[]; readonly server: { readonly url: string } },
  endDisturbances: () => Promise<void>,
): Promise<Verdict> {
  const started = await runLoad(load).finally(endDisturbances);
  const lost = allLosses(database.losses);
  const { url } = database.server;
  // Executions that a fail-over set back continue, and their clients, who had seen the end, resume open suspensions again.
  const setBack = started.filter(({ executionId }) => lost.setBack.has(executionId));
  const known = await readRemains(url);
  const again = await carryAgain(
    setBack.filter(({ executionId }) => known.has(executionId)),
    load,
  );
  const remains = await readRemains(url);
  const bodies = readBodies(load.cluster.log);
  const told = [...new Map([...started, ...again].map((each) => [each.executionId, each])).values()];
  return {
    problems: [...checkAll(told, remains, bodies, lost), ...checkResults(told, remains)],
    losses: database.losses,
    executions: started.length,
    bodies: bodies.length,
    late: lateRuns(remains, bodies),
  };
}
