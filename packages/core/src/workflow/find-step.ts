// Finds the definition of a step by its path.
import type { Schema } from "../values/schema.ts";
import { stepIdOf } from "../values/step-path.ts";
import { innerSteps, type Step, type WorkflowDefinition } from "./step.ts";

export interface FoundStep {
  readonly step: Step;
  /** The innermost workflow that holds it. */
  readonly workflow: WorkflowDefinition;
}

/** The step at a path, with the workflow that holds it; undefined when there is none. */
export function findStep(workflow: WorkflowDefinition, path: string): FoundStep | undefined {
  if (stepIdOf(path) === path) {
    const step = workflow.steps.find(({ id }) => id === path);
    return step && { step, workflow };
  }
  let holder = workflow;
  let siblings = workflow.steps;
  let found: Step | undefined;
  for (const part of path.split("/")) {
    const [id] = part.split(/[[#]/, 1);
    if (found?.type === "andWorkflow") holder = found.workflow;
    found = siblings.find((step) => step.id === id);
    if (found === undefined) return undefined;
    siblings = innerSteps(found).flat();
  }
  return found && { step: found, workflow: holder };
}

/** The schema of resume data for the step at this path: its own, else that of its workflow. */
export function resumeSchemaOf(workflow: WorkflowDefinition, path: string): Schema | undefined {
  const found = findStep(workflow, path);
  return found?.step.resumeSchema ?? found?.workflow.resumeSchema ?? workflow.resumeSchema;
}
