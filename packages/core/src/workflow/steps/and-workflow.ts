// andWorkflow: runs another workflow as steps under its path, in the same journal.
import { DefinitionError } from "../../errors/index.ts";
import type { KnownOptions } from "../../values/check-options.ts";
import type { WorkflowDefinition, WorkflowStep } from "../step.ts";
import { type OuterOptionNames, type OuterOptions, outerBase, stepOptions } from "./step-options.ts";

export interface WorkflowStepOptions<W> extends OuterOptions {
  /** The workflow to run; the data is its input. */
  readonly workflow: W;
}

const knownOptions: KnownOptions<WorkflowStepOptions<unknown>> & OuterOptionNames = {
  ...stepOptions,
  workflow: true,
};

export function workflowStep(options: WorkflowStepOptions<WorkflowDefinition>): WorkflowStep {
  const base = outerBase(options, "andWorkflow", knownOptions);
  const where = `andWorkflow "${base.id}"`;
  const given: unknown = options.workflow;
  if (typeof given !== "object" || given === null || !("steps" in given)) {
    throw new DefinitionError({ where, problem: "workflow must be a workflow" });
  }
  return { ...base, type: "andWorkflow", workflow: options.workflow };
}
