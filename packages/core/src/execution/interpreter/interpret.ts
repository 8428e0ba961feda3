// Interprets a workflow's plan: which step comes next, and with which data.

import type { Outcome } from "../../journal/outcome.ts";
import type { JsonText } from "../../values/json.ts";
import { childPath } from "../../values/step-path.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { agent } from "./and-agent.ts";
import { all } from "./and-all.ts";
import { branch } from "./and-branch.ts";
import { forEach } from "./and-for-each.ts";
import { loop } from "./and-loop.ts";
import { race } from "./and-race.ts";
import { sleep } from "./and-sleep.ts";
import { tap } from "./and-tap.ts";
import { thenBody } from "./and-then.ts";
import { when } from "./and-when.ts";
import { childWorkflow } from "./and-workflow.ts";
import { check, type Interpretation, type Place, type Sequence } from "./commands.ts";

/** Interprets a whole workflow from its checked input. */
export function* interpretWorkflow(workflow: WorkflowDefinition, input: JsonText): Interpretation {
  let data = input;
  for (const [stepIndex, step] of workflow.steps.entries()) {
    const outcome = yield* interpretStep({
      step,
      path: step.id,
      data,
      scope: { workflow, input, stepIndex },
    });
    if (outcome.kind === "error") return outcome;
    if (outcome.kind !== "skipped") data = outcome.value;
    if (outcome.kind === "bailed") break;
  }
  return yield* check(workflow.resultSchema, data, `workflow ${workflow.id}`, "result", true);
}

const sequence: Sequence = function* (steps, parent, data, scope) {
  let current = data;
  for (const step of steps) {
    const outcome: Outcome = yield* interpretStep({
      step,
      path: childPath(parent, step.id),
      data: current,
      scope,
    });
    if (outcome.kind === "error" || outcome.kind === "bailed") return outcome;
    if (outcome.kind === "output") current = outcome.value;
  }
  return { kind: "output", value: current };
};

function interpretStep(place: Place): Interpretation {
  const { step } = place;
  switch (step.type) {
    case "andThen":
    case "andWaitFor":
      return thenBody(place);
    case "andTap":
      return tap(place);
    case "andAgent":
      return agent(place, step);
    case "andWhen":
      return when(place, step, sequence);
    case "andAll":
      return all(place, step, sequence);
    case "andRace":
      return race(place, step, sequence);
    case "andWorkflow":
      return childWorkflow(place, step, sequence);
    case "andForEach":
      return forEach(place, step, sequence);
    case "andDoWhile":
      return loop(place, step, "true", sequence);
    case "andDoUntil":
      return loop(place, step, "false", sequence);
    case "andBranch":
      return branch(place, step, sequence);
    case "andSleep":
    case "andSleepUntil":
      return sleep(place, step);
  }
}
