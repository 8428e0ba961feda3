// Makes the events of the journal.
import type { NewEvent, Suspension } from "../store/store.ts";
import type { JsonText } from "../workflow/json.ts";
import type { Place } from "./interpreter/commands.ts";
import type { Outcome } from "./journal.ts";

/** An event of the whole execution. */
export function executionEvent(type: string, value?: JsonText, detail?: object): NewEvent {
  return {
    timestamp: Date.now(),
    type,
    path: null,
    stepIndex: null,
    stepType: null,
    value: value ?? null,
    detail: detail === undefined ? null : JSON.stringify(detail),
  };
}

/** An event of a step. */
export function stepEvent(type: string, place: Place, value: JsonText, path: string = place.path): NewEvent {
  return {
    timestamp: Date.now(),
    type,
    path,
    stepIndex: place.scope.stepIndex,
    stepType: place.step.type,
    value: value ?? null,
    detail: null,
  };
}

/** How a step, or a function beside it, ended. */
export function outcomeEvent(place: Place, path: string, outcome: Outcome): NewEvent {
  switch (outcome.kind) {
    case "output": {
      const type = path === place.path ? "step-complete" : "step-evaluated";
      return { ...stepEvent(type, place, outcome.value, path), detail: outcome.detail ?? null };
    }
    case "skipped":
      return stepEvent("step-skipped", place, undefined, path);
    case "error":
      return stepEvent("step-error", place, JSON.stringify(outcome.error), path);
  }
}

/** A suspension opens, or the execution comes to rest at one. */
export function suspendedEvent(type: string, suspension: Suspension, stepType: string | null): NewEvent {
  const { suspensionId, path, stepIndex, reason, data, suspendedAt } = suspension;
  const detail = JSON.stringify({ suspensionId, reason, suspendedAt });
  return { timestamp: suspendedAt, type, path, stepIndex, stepType, value: data, detail };
}
