// The registered workflows as lists and detail pages show them. Described once: a schema that cannot be fails at the start.
import { WorkflowNotFoundError } from "../errors/index.ts";
import type { Engine } from "../execution/engine/engine.ts";
import { describeWorkflow, type WorkflowDescription } from "../workflow/describe-workflow.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import type { WorkflowDetail, WorkflowSummary } from "./andante.ts";

export class WorkflowCatalog {
  readonly #descriptions: ReadonlyMap<string, WorkflowDescription>;

  constructor(workflows: Iterable<WorkflowDefinition>) {
    this.#descriptions = new Map([...workflows].map((workflow) => [workflow.id, describeWorkflow(workflow)]));
  }

  list(engine: Pick<Engine, "isRunning">): readonly WorkflowSummary[] {
    return [...this.#descriptions.values()].map((description) => summaryOf(description, engine));
  }

  read(workflowId: string, engine: Pick<Engine, "isRunning">): WorkflowDetail {
    const description = this.#descriptions.get(workflowId);
    if (description === undefined) throw new WorkflowNotFoundError({ workflowId });
    return { ...description, ...summaryOf(description, engine) };
  }
}

function summaryOf(
  { id, name, purpose, stepsCount }: WorkflowDescription,
  engine: Pick<Engine, "isRunning">,
): WorkflowSummary {
  return { id, name, purpose, stepsCount, status: engine.isRunning(id) ? "running" : "idle" };
}
