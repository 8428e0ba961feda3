// A campaign: load through HTTP on three nodes while nodes and database are disturbed, then the checks.
import { createRandom } from "../../packages/core/test/support/random.ts";
import { checkAll, checkResults, lateRuns } from "./checks.ts";
import { Cluster } from "./cluster.ts";
import { CampaignDatabase, type CheckedStore } from "./database.ts";
import { disturb, nodeDisturbances } from "./disturbances.ts";
import { carryAgain, type LoadOptions, runLoad } from "./load.ts";
import { allLosses, type Loss } from "./loss.ts";
import { CampaignServers } from "./restate-servers.ts";
import { readBodies } from "./side-log.ts";

export interface CampaignOptions {
  readonly store: "postgres" | "restate";
  readonly seed: number;
  /** As many at least: the load lasts until each kind of disturbance has happened under it. */
  readonly executions: number;
  readonly clients: number;
  readonly lease: number;
  readonly pause: readonly [number, number];
  /** Milliseconds after which an execution counts as stuck while others end. */
  readonly patience: number;
  /** Which kinds of disturbances. Default: all. */
  readonly kinds?: readonly string[] | undefined;
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
  /** How many there were, of each kind. */
  readonly disturbances: Readonly<Record<string, number>>;
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, executions, clients, lease, pause, patience } = options;
  const store = await (options.store === "restate" ? CampaignServers.start() : CampaignDatabase.start());
  let cluster: Cluster | undefined;
  try {
    cluster = await Cluster.start({ nodes: 3, lease, ...store.place });
    const over = new AbortController();
    let ended = 0;
    const onEnd = () => options.onEnd?.(++ended);
    // Two sequences of choices, so that the disturbances of nodes do not depend on the progress of clients.
    const chosen = createRandom(seed);
    const ofNodes = nodeDisturbances(cluster, chosen, lease);
    const ofServers = store.disturbances(chosen, lease);
    const { killServer } = ofServers;
    const killBoth = async () => void (await Promise.all([ofNodes.kill?.(), killServer?.()]));
    const all = { ...ofNodes, ...ofServers, ...(killServer && { killBoth }) };
    const wanted = Object.entries(all).filter(([kind]) => options.kinds?.includes(kind) ?? true);
    const kinds = Object.fromEntries(wanted);
    const disturbances: Record<string, number> = Object.fromEntries(wanted.map(([kind]) => [kind, 0]));
    const disturbed = disturb({ kinds, random: chosen, pause, counts: disturbances, signal: over.signal });
    const more = () => Object.values(disturbances).includes(0);
    const random = createRandom(seed + 1);
    const load = { cluster, random, executions, more, clients, patience, onEnd };
    const verdict = await loadAndCheck(load, store, () => {
      over.abort();
      return disturbed;
    });
    return { ...verdict, disturbances };
  } finally {
    await cluster?.remove();
    await store.remove();
  }
}

/** Runs the load, waits for the end of the disturbances, and checks every execution. */
export async function loadAndCheck(
  load: LoadOptions,
  store: CheckedStore,
  endDisturbances: () => Promise<void>,
): Promise<Verdict> {
  const started = await runLoad(load).finally(endDisturbances);
  const lost = allLosses(store.losses);
  // Executions that a fail-over set back continue, and their clients, who had seen the end, resume open suspensions again.
  const setBack = started.filter(({ executionId }) => lost.setBack.has(executionId));
  const known = await store.remains();
  const again = await carryAgain(
    setBack.filter(({ executionId }) => known.has(executionId)),
    load,
  );
  const remains = await store.remains();
  const bodies = readBodies(load.cluster.log);
  const told = [...new Map([...started, ...again].map((each) => [each.executionId, each])).values()];
  return {
    problems: [...checkAll(told, remains, bodies, lost), ...checkResults(told, remains)],
    losses: store.losses,
    executions: started.length,
    bodies: bodies.length,
    late: lateRuns(remains, bodies),
  };
}
