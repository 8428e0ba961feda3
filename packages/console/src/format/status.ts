// The colour tone of each status. A status is always shown as text too, never by colour alone.
import type { ExecutionStatus } from "@andante/client";

export type Tone = "run" | "wait" | "ok" | "bad" | "off" | "agent";

const tones: Readonly<Record<string, Tone>> = {
  running: "run",
  retrying: "run",
  sleeping: "off",
  suspended: "wait",
  waiting: "wait",
  completed: "ok",
  done: "ok",
  ok: "ok",
  error: "bad",
  failed: "bad",
  cancelled: "off",
  parked: "off",
  skipped: "off",
  warn: "wait",
};

export function toneOf(status: string): Tone {
  return tones[status] ?? "off";
}

/** Statuses of executions, in the order in which filters show them. */
export const executionStatuses = [
  "running",
  "suspended",
  "completed",
  "error",
  "cancelled",
] as const satisfies readonly ExecutionStatus[];

/** The status of an execution as it is shown: one that sleeps is `running` for the server. */
export function shownStatus(
  status: string,
  { parked, kind }: { readonly parked?: unknown; readonly kind?: string | undefined },
): string {
  if (parked !== undefined) return "parked";
  return status === "running" && kind === "sleep" ? "sleeping" : status;
}

const stepLabels: Readonly<Record<string, string>> = { error: "failed", suspended: "waiting" };

/** The label of a step's status. */
export function stepStatusLabel(status: string): string {
  return stepLabels[status] ?? status;
}
