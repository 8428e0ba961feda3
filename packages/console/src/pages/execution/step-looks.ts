// How each step looks in the graph: its state and a few words about it.
import type { ExecutionEvent, Step } from "../../api/types.ts";
import type { StepLook } from "../../graph/step-graph.tsx";
import { definitionPath, type Run, type StepRun, statusOfRounds } from "../../run/step-runs.ts";
import { duration, plural } from "../../words/numbers.ts";

/** The runs of a step of the definition: one, or one for each round. */
export function runsOf(run: Run, path: string): StepRun[] {
  const only = run.steps.get(path);
  if (only !== undefined) return [only];
  const found: StepRun[] = [];
  for (const [each, step] of run.steps)
    if (each.includes("[") && definitionPath(each) === path) found.push(step);
  return found;
}

export function lookAt(run: Run, path: string, step: Step, now: number): StepLook {
  const runs = runsOf(run, path);
  const status = statusOfRounds(runs);
  return { status, words: status === undefined ? step.type : wordsFor(runs, status, step, now) };
}

function wordsFor(runs: readonly StepRun[], status: string, step: Step, now: number): string {
  const [first] = runs;
  if (first === undefined) return step.type;
  if (runs.length > 1) {
    const done = runs.filter((run) => run.status === "completed").length;
    return `${done} of ${plural(runs.length, "round")}`;
  }
  const asked = first.suspension?.suspendedAt;
  if (status === "suspended" && asked !== undefined)
    return `waiting for a person · ${duration(now - Date.parse(asked))}`;
  if (status === "skipped") return "skipped";
  const time = duration((first.endAt ?? now) - first.startAt);
  // The node of a branch has no room for the kind of step as well.
  if (first.attempts.length > 1) return `${time} · ${first.attempts.length} attempts`;
  return `${step.type} · ${time}`;
}

/** The steps as far as a journal tells them, for a workflow that is not registered any more. */
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
