// The settlement that callers waiting for an execution receive, and the end of an execution.

import type { EndEvent } from "../../journal/events.ts";
import type { Failure } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import type { Suspension } from "../../store/store.ts";
import type { StoredJson } from "../../store/stored-event.ts";
import type { JsonText } from "../../values/json.ts";

export type Settlement =
  | EndedSettlement
  | { readonly kind: "suspended"; readonly suspension: Suspension }
  /** It was ended or taken over elsewhere: the store has its state. */
  | { readonly kind: "elsewhere" }
  /** This process stops; the execution continues after the restart. */
  | { readonly kind: "stopped" };

export interface EndedSettlement {
  readonly kind: "ended";
  readonly status: "completed" | "error";
  readonly endAt: number;
  readonly result: JsonText;
  readonly error: Failure | undefined;
}

/** The end of an execution: its event, its columns, and the settlement for waiting callers. */
export interface Ending {
  readonly event: EndEvent;
  readonly end: {
    readonly status: "completed" | "error";
    readonly result: StoredJson;
    readonly error: StoredJson;
  };
  readonly settlement: EndedSettlement;
}

/** How an execution ends with this outcome at this time. */
export function endingOf(outcome: Outcome, endAt: number): Ending {
  if (outcome.kind === "error") {
    const { error } = outcome;
    return {
      event: { type: "workflow-error", timestamp: endAt, error },
      end: { status: "error", result: null, error: JSON.stringify(error) },
      settlement: { kind: "ended", status: "error", endAt, result: undefined, error },
    };
  }
  const result = outcome.kind === "output" ? outcome.value : undefined;
  return {
    event: { type: "workflow-complete", timestamp: endAt, result },
    end: { status: "completed", result: result ?? null, error: null },
    settlement: { kind: "ended", status: "completed", endAt, result, error: undefined },
  };
}
