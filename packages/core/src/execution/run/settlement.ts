// How far an execution has come when it answers those who wait for it.

import { executionEvent } from "../../journal/events.ts";
import type { Failure, Outcome } from "../../journal/journal.ts";
import type { Commit, NewEvent, Suspension } from "../../store/store.ts";
import type { JsonText } from "../../values/json.ts";

export type Settlement =
  | EndedSettlement
  | { readonly kind: "suspended"; readonly suspension: Suspension }
  /** Someone else ended it or took it over: the store knows. */
  | { readonly kind: "elsewhere" }
  /** This process stops; the execution goes on after the restart. */
  | { readonly kind: "stopped" };

export interface EndedSettlement {
  readonly kind: "ended";
  readonly status: "completed" | "error";
  readonly endAt: number;
  readonly result: JsonText;
  readonly error: Failure | undefined;
}

/** The end of an execution: what is committed, and what those who wait are told once it is. */
export interface Ending {
  readonly event: NewEvent;
  readonly end: NonNullable<Commit["end"]>;
  readonly settlement: EndedSettlement;
}

/** How an execution ends with this outcome at this time. */
export function endingOf(outcome: Outcome, at: number): Ending {
  const result = outcome.kind === "output" ? outcome.value : undefined;
  const error = outcome.kind === "error" ? outcome.error : undefined;
  const status = error === undefined ? "completed" : "error";
  const errorText = error === undefined ? undefined : JSON.stringify(error);
  const event = executionEvent(error ? "workflow-error" : "workflow-complete", at, errorText ?? result);
  return {
    event,
    end: { status, result: result ?? null, error: errorText ?? null },
    settlement: { kind: "ended", status, endAt: event.timestamp, result, error },
  };
}
