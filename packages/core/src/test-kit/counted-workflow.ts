// A workflow whose functions report each run.

import { propertyOf } from "../values/fields.ts";
import { childPath } from "../values/step-path.ts";
import type { Step, WorkflowAgent, WorkflowDefinition } from "../workflow/step.ts";
import type { FunctionContext } from "../workflow/step-context.ts";

/** Called with the path of the function that runs. An agent does not know its path: it counts for its step. */
export type CountRun = (path: string) => void;

/** The same workflow; every run of its functions is counted. */
export function countedWorkflow(workflow: WorkflowDefinition, count: CountRun): WorkflowDefinition {
  return { ...workflow, steps: countedSteps(workflow.steps, "", count) };
}

function countedSteps(steps: readonly Step[], parent: string, count: CountRun): readonly Step[] {
  return steps.map((step) => countedStep(step, childPath(parent, step.id), count));
}

function countedStep(step: Step, path: string, count: CountRun): Step {
  const counted = <Context extends FunctionContext, Result>(run: (context: Context) => Result) => {
    return (context: Context): Result => {
      count(context.stepPath);
      return run(context);
    };
  };
  const inside = (steps: readonly Step[]) => countedSteps(steps, path, count);
  switch (step.type) {
    case "andThen":
    case "andTap":
    case "andWaitFor":
      return { ...step, execute: counted((context) => step.execute(context)) };
    case "andWhen":
    case "andDoWhile":
    case "andDoUntil":
      return { ...step, condition: counted((context) => step.condition(context)), steps: inside(step.steps) };
    case "andAll":
    case "andRace":
      return { ...step, branches: step.branches.map(inside) };
    case "andBranch": {
      const cases = step.cases.map((one) => ({
        condition: counted((context) => one.condition(context)),
        steps: inside(one.steps),
      }));
      return { ...step, cases };
    }
    case "andForEach":
      return { ...step, items: step.items && counted(step.items), steps: inside(step.steps) };
    case "andWorkflow":
      return { ...step, workflow: { ...step.workflow, steps: inside(step.workflow.steps) } };
    case "andSleep":
      return typeof step.duration === "number" ? step : { ...step, duration: counted(step.duration) };
    case "andSleepUntil":
      return typeof step.date === "number" ? step : { ...step, date: counted(step.date) };
    case "andAgent": {
      const { agent, prompt } = step;
      return {
        ...step,
        prompt: typeof prompt === "function" ? counted(prompt) : prompt,
        agent: countedAgent(agent, () => count(path)),
      };
    }
  }
}

/** The same agent, of the same class: an `Agent` is called call by call. */
function countedAgent(agent: WorkflowAgent, count: () => void): WorkflowAgent {
  return new Proxy(agent, {
    get(target, name) {
      const member = propertyOf(target, name);
      if (typeof member !== "function") return member;
      const isAsked = name === "generate" || name === "stream";
      return (...given: unknown[]): unknown => {
        if (isAsked) count();
        return member.apply(target, given);
      };
    },
  });
}
