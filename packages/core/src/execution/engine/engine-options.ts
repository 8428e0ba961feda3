// The options of an engine.
import type { FilePool } from "../../agent/call/file-budget.ts";
import type { Observation } from "../../observe/observation.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { SizeLimits } from "../limits/limits.ts";
import type { EngineKind } from "./engine-kind.ts";
import type { FoldOptions } from "./folds.ts";
import type { Scheduler } from "./scheduler.ts";
import type { StorageWatch } from "./storage-watch.ts";
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
  readonly storage: StorageWatch;
  /** Fires the timers in the store. */
  readonly scheduler: Pick<Scheduler, "schedule" | "roomFreed">;
}
