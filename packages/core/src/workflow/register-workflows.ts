// Registers the host's workflows by their own ids.
import { DefinitionError } from "../errors/index.ts";
import type { WorkflowDefinition } from "./step.ts";

export function registerWorkflows(
  workflows: Readonly<Record<string, WorkflowDefinition>>,
): Map<string, WorkflowDefinition> {
  const registered = new Map<string, WorkflowDefinition>();
  for (const [key, workflow] of Object.entries(workflows)) {
    const where = `Workflow registered as "${key}"`;
    if (!Array.isArray(workflow?.steps))
      throw new DefinitionError({ where, problem: "it is not a workflow" });
    if (registered.has(workflow.id)) {
      throw new DefinitionError({ where, problem: `another workflow already has the id "${workflow.id}"` });
    }
    registered.set(workflow.id, workflow);
  }
  return registered;
}
