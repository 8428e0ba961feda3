// The feed of pages that show all executions at once.
import {
  countWaiting,
  listWaiting,
  type WaitingCount,
  type WaitingOptions,
  type WaitingPage,
} from "../execution/commands/list-waiting.ts";
import type { Engine } from "../execution/engine/engine.ts";
import type { Changes } from "../execution/stream/changes.ts";
import type { Observation } from "../observe/observation.ts";
import type { Rollups } from "../observe/rollups/rollups.ts";
import type { StoreNodes } from "../store/store.ts";

export interface Live {
  /** The changes of any execution. */
  readonly changes: Pick<Changes, "follow">;
  /** How many executions run in this process, and how many may. */
  readonly slots: { readonly running: number; readonly limit: number };
  /** Counts over time, of all processes; undefined where none are kept. */
  readonly rollups: Pick<Rollups, "overTime" | "totals"> | undefined;
  /** Milliseconds since 1970 by the clock that gives executions their times: on a shared store the database's. */
  now(): number;
  /** The processes that share the store; `self` is the name of this one. */
  nodes(): Promise<StoreNodes & { readonly self: string }>;
  /** The definition of a registered workflow. */
  definitionOf(workflowId: string): string;
  /** Open suspensions of all workflows without pauses, a page at a time. */
  waiting(options: WaitingOptions): Promise<WaitingPage>;
  /** How many of them there are, of the oldest 10 000. */
  countWaiting(options: {
    readonly userId?: string | undefined;
    readonly events?: boolean | undefined;
  }): Promise<{ readonly counts: readonly WaitingCount[]; readonly complete: boolean }>;
}

export function liveOf(
  engine: Pick<
    Engine,
    | "admission"
    | "changes"
    | "claims"
    | "clock"
    | "definitions"
    | "describe"
    | "running"
    | "store"
    | "workflows"
  >,
  { rollups }: Observation,
): Live {
  const { admission, changes, running } = engine;
  return {
    changes,
    slots: { running, limit: admission.slots.limit },
    rollups,
    now: () => engine.clock.now(),
    nodes: async () => {
      const { nodes, unowned } = await engine.store.nodes();
      const self = engine.claims.owner;
      const described = nodes.map((node) =>
        node.owner === self && node.about === null
          ? { ...node, about: JSON.stringify(engine.describe()) }
          : node,
      );
      return { nodes: described, unowned, self };
    },
    definitionOf: (workflowId) => engine.definitions.current(workflowId),
    waiting: (options) => listWaiting(engine, options),
    countWaiting: (options) => countWaiting(engine, options),
  };
}
