// The look of each step in the graph: its status and a short text.
import type { Step, Suspension } from "@andante/client";
import type { ExecutionEvent } from "../../api/types.ts";
import { count, duration, plural } from "../../format/numbers.ts";
import { stepStatusLabel } from "../../format/status.ts";
import type { StepView } from "../../graph/step-graph.tsx";
import type { Rounds, Run } from "../../run/run-history.ts";
import { attemptsOf, tookOf } from "../../run/step-runs.ts";

/** `at` is the shown time: now, or the time of the event at the scrubber. */
export function stepView(run: Run, path: string, step: Step, at: number): StepView {
  const rounds = run.rounds(path);
  return { status: rounds?.status, words: rounds === undefined ? step.type : wordsFor(rounds, at) };
}

function wordsFor({ total, done, status, last }: Rounds, at: number): string {
  if (total > 1) return `${stepStatusLabel(status)} · ${done} of ${plural(total, "round")}`;
  const [open] = last.suspensions;
  if (status === "suspended" && open !== undefined)
    return `waiting for ${awaited(open)} · ${duration(at - Date.parse(open.suspendedAt))}`;
  if (status === "suspended" && last.endAt !== null) return `waiting inside · ${duration(at - last.endAt)}`;
  if (status === "skipped") return "skipped";
  const attempts = attemptsOf(last);
  if (status === "retrying" && last.retryAt !== undefined && last.retryAt > at)
    return `attempt ${attempts - 1} failed · next in ${duration(last.retryAt - at)}`;
  const tried = attempts > 1 ? ` · ${attempts} attempts` : "";
  return `${stepStatusLabel(status)} · ${duration(tookOf(last, at))}${tried}`;
}

function awaited({ events = [] }: Suspension): string {
  const [first] = events;
  if (first === undefined) return "a person";
  return events.length === 1 ? first.name : `one of ${count(events.length)} events`;
}

/** The steps derived from a journal, for a workflow that is no longer registered. */
export function stepsFrom(events: readonly ExecutionEvent[]): Step[] {
  const steps = new Map<string, Step>();
  for (const { stepPath, stepType = "andThen" } of events) {
    if (stepPath === undefined || stepPath.includes("#") || stepPath.includes("/") || stepPath.includes("["))
      continue;
    if (!steps.has(stepPath))
      steps.set(stepPath, { id: stepPath, name: stepPath, type: stepType, purpose: "" });
  }
  return [...steps.values()];
}
