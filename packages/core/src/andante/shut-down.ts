// Stops an Andante, stage after stage. A part that does not end delays nothing for long, and is named in one line.
import type { Agents } from "../agent/agents.ts";
import type { Deliveries } from "../execution/commands/deliveries.ts";
import type { Endpoints } from "../execution/commands/endpoints.ts";
import type { ScheduleSets } from "../execution/commands/schedule-sets.ts";
import type { Engine } from "../execution/engine/engine.ts";
import type { Recovery } from "../execution/engine/recovery.ts";
import type { Retention } from "../execution/engine/retention.ts";
import type { Scheduler } from "../execution/engine/scheduler.ts";
import type { SearchIndexer } from "../execution/engine/search-indexer.ts";
import type { Observation } from "../observe/observation.ts";
import { withTimeout } from "../values/with-timeout.ts";

export interface ShutDownParts {
  readonly engine: Engine;
  readonly scheduler: Scheduler;
  readonly retention: Retention;
  readonly indexer: SearchIndexer;
  readonly recovery: Recovery;
  readonly scheduleSets: ScheduleSets;
  readonly endpoints: Pick<Endpoints, "stop">;
  readonly deliveries: Pick<Deliveries, "stop">;
  readonly agents: Agents;
  readonly observation: Observation;
  /** Resolves when the store is open and a first batch of abandoned executions is loaded. */
  readonly ready: Promise<void>;
  /** Milliseconds that bodies and replies get to finish. */
  readonly grace: number;
}

/** Something that has to be stopped. */
interface Part {
  /** For the line, should it not end. */
  readonly name: string;
  stop(): Promise<unknown>;
  /** Milliseconds that it gets. */
  readonly patience: number;
}

const theStart = "the start";
/** Milliseconds that a part gets beside the grace of running bodies. */
const patience = 2000;
/** The store gets longer: a large file may take a while to be put in order. */
const storePatience = 10_000;

/** Resolves once everything has stopped, or was left behind; rejects when a part could not be stopped. */
export async function shutDown(parts: ShutDownParts): Promise<void> {
  const { engine } = parts;
  // First, so that a start that is under way takes nothing more in.
  engine.stopIntake();
  const waiting: string[] = [];
  const failures: unknown[] = [];
  const stop = async ({ name, stop, patience }: Part) => {
    try {
      if ((await withTimeout(stop(), patience)).timedOut) waiting.push(name);
    } catch (error) {
      failures.push(error);
    }
  };
  for (const stage of stagesOf(parts)) await Promise.all(stage.map(stop));
  if (waiting.length > 0)
    engine.logger.warn({ waiting }, "closing without waiting longer for what does not end");
  if (waiting.includes(theStart)) closeLate(parts);
  if (failures.length > 0) throw failures[0];
}

/** A store that opens after all has no user any more: it would keep its file locked, or its connections. */
function closeLate({ engine, ready }: ShutDownParts): void {
  ready.then(
    () =>
      engine.store
        .close()
        .catch((err) => engine.logger.error({ err }, "a store that opened late could not be closed")),
    () => undefined,
  );
}

/** Parts that stop together, in the order of the stages. */
function stagesOf(parts: ShutDownParts): readonly (readonly Part[])[] {
  const { engine, scheduler, scheduleSets, retention, indexer, recovery, endpoints, deliveries } = parts;
  const { agents, observation, ready, grace } = parts;
  // Inside it are two waits for the store.
  const whatRuns = grace + 3 * patience;
  return [
    [{ name: theStart, stop: () => ready.catch(() => undefined), patience }],
    [
      { name: "deliveries", stop: async () => [endpoints.stop(), deliveries.stop()], patience },
      { name: "due timers", stop: () => scheduler.stop(), patience },
      { name: "declared schedules", stop: () => scheduleSets.stop(), patience },
      { name: "retention", stop: () => retention.stop(), patience },
      { name: "recovery", stop: () => recovery.stopPolling(), patience },
    ],
    [
      { name: "executions", stop: () => engine.close(grace), patience: whatRuns },
      { name: "agents", stop: () => agents.close(grace), patience: whatRuns },
      // Not before them: a batch under way would delay the stop of bodies.
      { name: "the search index", stop: () => indexer.stop(), patience },
    ],
    [{ name: "tools of agents", stop: () => agents.releaseTools(), patience }],
    [{ name: "heartbeats", stop: () => recovery.stop(), patience }],
    [{ name: "logs and traces", stop: () => observation.close(), patience }],
    [{ name: "the store", stop: () => engine.store.close(), patience: storePatience }],
  ];
}
