// An execution as it was when this process loaded or created it.
import type { Journal } from "../../journal/journal.ts";
import type { KeptValues } from "../../journal/kept-values.ts";
import type { Suspension, Timer } from "../../store/store.ts";
import type { JsonText } from "../../values/json.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";

export interface LoadedExecution {
  readonly workflow: WorkflowDefinition;
  /** Proves the claim. */
  readonly token: string;
  /** The input as the schema returned it. */
  readonly input: JsonText;
  readonly journal: Journal;
  /** The suspensions that are open. */
  readonly suspensions: readonly Suspension[];
  /** The timers that the store holds. */
  readonly timers: readonly Timer[];
  /** The number of the last event. */
  readonly sequence: number;
  readonly stepIndex: number;
  /** A pause is open. */
  readonly paused: boolean;
  /** When it fails unless it has ended; null for never. */
  readonly timeoutAt: number | null;
  /** The time of the deadline that brought it here; undefined when something else did. */
  readonly dueAt?: number | undefined;
  /** The bytes that the journal holds. */
  readonly bytes: number;
  /** Its long values. */
  readonly values: KeptValues;
}
