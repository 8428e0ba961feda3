// The look of each step in the graph: its status and a short text.
import type { Step } from "@andante/client";
import type { ExecutionEvent } from "../../api/types.ts";
import { duration, plural } from "../../format/numbers.ts";
import { stepStatusLabel } from "../../format/status.ts";
import type { StepView } from "../../graph/step-graph.tsx";
import {
  attemptsOf,
  definitionPath,
  type Run,
  type StepRun,
  statusOfRounds,
  tookOf,
} from "../../run/step-runs.ts";

/** The runs of a step of the definition: one, or one per round. */
export function runsOf(run: Run, path: string): StepRun[] {
  const only = run.steps.get(path);
  if (only !== undefined) return [only];
  const found: StepRun[] = [];
  for (const [each, step] of run.steps)
    if (each.includes("[") && definitionPath(each) === path) found.push(step);
  return found;
}

/** `at` is the shown time: now, or the time of the event at the scrubber. */
export function stepView(run: Run, path: string, step: Step, at: number): StepView {
  const runs = runsOf(run, path);
  const status = statusOfRounds(runs);
  return { status, words: status === undefined ? step.type : wordsFor(runs, status, step, at) };
}

function wordsFor(runs: readonly StepRun[], status: string, step: Step, at: number): string {
  const [first] = runs;
  if (first === undefined) return step.type;
  if (runs.length > 1) {
    const done = runs.filter((run) => run.status === "completed").length;
    return `${stepStatusLabel(status)} · ${done} of ${plural(runs.length, "round")}`;
  }
  const asked = first.suspension?.suspendedAt;
  if (status === "suspended" && asked !== undefined)
    return `waiting for a person · ${duration(at - Date.parse(asked))}`;
  if (status === "skipped") return "skipped";
  const attempts = attemptsOf(first);
  const tried = attempts > 1 ? ` · ${attempts} attempts` : "";
  return `${stepStatusLabel(status)} · ${duration(tookOf(first, at))}${tried}`;
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
