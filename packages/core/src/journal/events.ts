// Makes the events of the journal.

import type { Place } from "../execution/interpreter/commands.ts";
import type { NewEvent, Suspension } from "../store/store.ts";
import type { JsonText } from "../values/json.ts";
import type { Outcome } from "./journal.ts";

/** An event of the whole execution. */
export function executionEvent(type: string, timestamp: number, value?: JsonText, detail?: object): NewEvent {
  return {
    timestamp,
    type,
    path: null,
    stepIndex: null,
    stepType: null,
    value: value ?? null,
    detail: detail === undefined ? null : JSON.stringify(detail),
  };
}

/** An event of a step, or of a function beside it. */
export function stepEvent(
  type: string,
  place: Place,
  timestamp: number,
  value: JsonText,
  options: { readonly path?: string; readonly detail?: object } = {},
): NewEvent {
  return {
    timestamp,
    type,
    path: options.path ?? place.path,
    stepIndex: place.scope.stepIndex,
    stepType: place.step.type,
    value: value ?? null,
    detail: options.detail === undefined ? null : JSON.stringify(options.detail),
  };
}

/** How a step, or a function beside it, ended. */
export function outcomeEvent(place: Place, path: string, outcome: Outcome, timestamp: number): NewEvent {
  switch (outcome.kind) {
    case "output": {
      const type = path === place.path ? "step-complete" : "step-evaluated";
      return {
        ...stepEvent(type, place, timestamp, outcome.value, { path }),
        detail: outcome.detail ?? null,
      };
    }
    case "skipped":
      return stepEvent("step-skipped", place, timestamp, undefined, { path });
    case "bailed":
      return stepEvent("step-bailed", place, timestamp, outcome.value, { path });
    case "error":
      return stepEvent("step-error", place, timestamp, JSON.stringify(outcome.error), { path });
  }
}

/** A suspension opens, or the execution comes to rest at one. */
export function suspendedEvent(type: string, suspension: Suspension, stepType: string | null): NewEvent {
  const { suspensionId, path, stepIndex, reason, data, suspendedAt, deadline } = suspension;
  const detail = JSON.stringify({
    suspensionId,
    reason,
    suspendedAt,
    ...(deadline !== null && { deadline }),
  });
  return { timestamp: suspendedAt, type, path, stepIndex, stepType, value: data, detail };
}
