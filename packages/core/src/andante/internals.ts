// What only the server and tests may do with an Andante: it is not part of the interface that hosts see.
import type { Agents } from "../agent/agents.ts";
import { OptionError } from "../errors/index.ts";
import type { Changes } from "../execution/stream/changes.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Rollups } from "../observe/rollups/rollups.ts";
import type { StoreHealth } from "../store/store.ts";
import type { Andante } from "./andante.ts";
import { AndanteService } from "./andante-service.ts";
import type { ExecutionRows } from "./execution-rows.ts";

export interface AndanteInternals {
  readonly agents: Agents;
  readonly metrics: Metrics;
  readonly rows: Pick<ExecutionRows, "suspensions">;
  /** The user that an execution belongs to; null where it is nobody's. */
  ownerOf(workflowId: string, executionId: string): Promise<string | null>;
  /** Throws when no workflow of this id is registered. */
  checkWorkflow(workflowId: string): void;
  /** Removes log lines, traces and counts beyond their bounds now; it happens by itself once a minute. */
  trimObservations(): Promise<void>;
  /** How the store is now. */
  health(): Promise<StoreHealth>;
  /** The executions of this process: what changes in them, how many run now, and how many may. */
  readonly live: {
    readonly changes: Pick<Changes, "follow">;
    readonly slots: { readonly running: number; readonly limit: number };
    /** Counts over time, of all processes; undefined where none are kept. */
    readonly rollups: Pick<Rollups, "overTime" | "totals"> | undefined;
  };
  /** True from the call of `close` on. */
  readonly closing: boolean;
}

/** The rest of an Andante that `createAndante` of this copy of the package made. */
export function internalsOf(andante: Andante): AndanteInternals {
  if (andante instanceof AndanteService) return andante;
  throw new OptionError({ option: "andante", problem: "expected one made by createAndante" });
}
