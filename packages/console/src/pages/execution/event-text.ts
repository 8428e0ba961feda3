// A one-line summary of an event.
import type { ExecutionEvent } from "../../api/types.ts";
import { inlineJson } from "../../components/inline-json.ts";
import { errorText, ownerPath } from "../../run/step-runs.ts";

export function eventText(event: ExecutionEvent, input: unknown): string {
  const step = event.stepPath ?? "";
  const about = (value: unknown) =>
    value === undefined || value === null ? step : `${step} → ${inlineJson(value, 160)}`;
  switch (event.type) {
    case "workflow-start":
      return inlineJson(input, 160);
    case "step-complete":
    case "step-evaluated":
    case "checkpoint-complete":
      return about(event.output);
    case "step-retry":
      return `${step} · attempt ${event.attempt}: ${errorText(event.error) ?? ""}`;
    case "step-error":
      return `${step} · ${errorText(event.error) ?? ""}`;
    case "workflow-error":
      return errorText(event.error) ?? "";
    case "workflow-suspended":
    case "step-suspended":
      return `${event.suspension?.stepPath ?? event.suspension?.stepId ?? ""} · “${event.suspension?.reason ?? ""}”`;
    case "workflow-resumed":
      return `${step} ← ${inlineJson(event.resumeData, 160)}${event.userId ? ` by ${event.userId}` : ""}`;
    case "workflow-complete":
      return inlineJson(event.result, 160);
    case "workflow-cancelled":
      return event.reason ?? "";
    case "state-changed":
      return inlineJson(event.state, 160);
    default:
      return event.data === undefined ? step : about(event.data);
  }
}

/** The step of an event; a checkpoint such as `charge#card` belongs to `charge`. */
export function stepOf(event: ExecutionEvent): string | undefined {
  const path = event.stepPath ?? event.suspension?.stepPath;
  return path && ownerPath(path);
}

export function eventTone(type: string): "bad" | "wait" | undefined {
  if (type.endsWith("-error") || type === "step-retry") return "bad";
  return type.endsWith("-suspended") ? "wait" : undefined;
}
