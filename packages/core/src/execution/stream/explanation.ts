// The explanation of an execution: the reason why it waits, or the way in which it ended.
import type { BudgetState } from "../../observe/usage/budgets.ts";
import type { ExecutionStatus } from "../../store/store.ts";
import type { StoredUsage } from "../../store/usage.ts";

/**
 * - `parked`: no process may run it. `pause`: it was suspended from outside.
 * - `suspension`, `tool`, `budget`: a step, a tool call of an agent or a used-up budget waits for resume data.
 * - `retry`: the last attempt of a step failed, and the next one starts at `until`. `sleep`: a step sleeps until then.
 * - `capacity`: it could continue, and no process has taken it yet. `running`: a step runs.
 */
export type WaitKind =
  | "parked"
  | "pause"
  | "suspension"
  | "tool"
  | "budget"
  | "retry"
  | "sleep"
  | "capacity"
  | "running";

/** One thing that an execution waits for. Times are ISO 8601. */
export interface Wait {
  readonly kind: WaitKind;
  readonly stepPath?: string;
  /** Since when it waits, or the step runs. */
  readonly since?: string;
  /** When it continues by itself: the end of a sleep, the next attempt, the deadline of a suspension. */
  readonly until?: string;
  /** Of a suspension with a deadline: it fails the step, cancels the execution, or resumes it with `resume`. */
  readonly onDeadline?: "fail" | "cancel" | "resume";
  readonly resume?: unknown;
  readonly suspensionId?: string;
  /** The events that end a suspension; a key of null is any. */
  readonly events?: readonly { readonly name: string; readonly key: string | null }[];
  readonly toolName?: string;
  /** The reason of a suspension, a pause or a parked execution. */
  readonly reason?: string;
  /** Who paused it. */
  readonly userId?: string;
  /** The attempt that failed; 1 is the first. */
  readonly attempt?: number;
  /** How many attempts the step has. */
  readonly attempts?: number;
  readonly error?: string;
}

export interface Explanation {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status: ExecutionStatus;
  /** The reason why it waits, or the way in which it ended. Times in it are ISO 8601. */
  readonly sentence: string;
  /** Everything that it waits for, the most important first; empty for an execution that has ended. */
  readonly waits: readonly Wait[];
  /** Tokens and money of its agents; absent without calls of models. */
  readonly usage?: StoredUsage;
  /** The budgets over time of its user, its tags and all calls; absent where the host has none. */
  readonly budgets?: readonly BudgetState[];
}

/** The explanation of an execution in a list: without texts of its steps. */
export interface ShortExplanation {
  /** Times in it are ISO 8601. */
  readonly sentence: string;
  readonly kind: WaitKind;
  /** When it continues by itself: the end of a sleep, the next attempt, the deadline of a suspension. */
  readonly until?: string;
}
