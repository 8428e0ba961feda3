// The options of an engine.
import type { FilePool } from "../../agent/call/file-budget.ts";
import type { Observation } from "../../observe/observation.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { SizeLimits } from "../limits/limits.ts";
import type { EngineKind } from "./engine-kind.ts";
import type { FoldOptions } from "./folds.ts";
import type { Waiters } from "./waiters.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  /** The kinds of executions beside those of workflows. Default: none. */
  readonly kinds?: readonly EngineKind[];
  readonly waiters: Waiters;
  readonly observation: Observation;
  /** How many executions may run here at once. */
  readonly maxRunning: number;
  /** The part of them that one user may hold while others wait. */
  readonly userShare: number;
  readonly clock: Clock;
  readonly limits: SizeLimits;
  /** The memory that files of agents share. Default: a pool of its own. */
  readonly files?: FilePool;
  /** Default: as `FoldOptions` says. */
  readonly folds?: FoldOptions | undefined;
  /** Called with every time at which something in the store falls due. */
  scheduleWakeup(at: number, kind: "sleep" | "limit"): void;
  /** Called when executions that sleep and are due may run here. */
  wakeSleepers(): void;
  /** Called when executions that wait in the store without an owner may run here. */
  claimAbandoned(): void;
}
