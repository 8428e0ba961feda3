// An execution as it was when this process loaded or created it.
import type { Suspension, Timer } from "../../store/store.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { ExecutionFold } from "./execution-fold.ts";

export interface LoadedExecution extends ExecutionFold {
  readonly workflow: WorkflowDefinition;
  /** Proves the claim. */
  readonly token: string;
  /** The suspensions that are open. */
  readonly suspensions: readonly Suspension[];
  /** The timers that the store holds. */
  readonly timers: readonly Timer[];
  readonly stepIndex: number;
  /** A pause is open. */
  readonly paused: boolean;
  /** When it fails unless it has ended; null for never. */
  readonly timeoutAt: number | null;
  /** The time of the deadline that brought it here; undefined when something else did. */
  readonly dueAt?: number | undefined;
}

/** An execution that has gone idle here, with everything recorded. */
export interface IdleExecution
  extends Pick<LoadedExecution, "suspensions" | "timers" | "stepIndex" | "timeoutAt"> {
  readonly fold: ExecutionFold;
}
