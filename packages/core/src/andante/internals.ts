// Operations of an Andante for the server and tests alone, which are not part of the interface for hosts.
import type { Agents } from "../agent/agents.ts";
import { OptionError } from "../errors/index.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { StoreHealth } from "../store/store.ts";
import type { Andante } from "./andante.ts";
import { AndanteService } from "./andante-service.ts";
import type { ExecutionIds } from "./execution-rows.ts";
import type { Live } from "./live.ts";

export interface AndanteInternals {
  readonly agents: Agents;
  readonly metrics: Metrics;
  /** The ids of an execution of a workflow, without its state; undefined where there is none. */
  idsOf(executionId: string): Promise<ExecutionIds | undefined>;
  /** Throws when no workflow of this id is registered. */
  checkWorkflow(workflowId: string): void;
  /** Removes log lines, traces and counts beyond their bounds now; it happens by itself once a minute. */
  trimObservations(): Promise<void>;
  /** The current health of the store; changes go to the log. */
  health(): Promise<StoreHealth>;
  readonly live: Live;
  /** True from the call of `close` on. */
  readonly closing: boolean;
}

/** The rest of an Andante that `createAndante` of this copy of the package made. */
export function internalsOf(andante: Andante): AndanteInternals {
  if (andante instanceof AndanteService) return andante;
  throw new OptionError({ option: "andante", problem: "expected one made by createAndante" });
}
