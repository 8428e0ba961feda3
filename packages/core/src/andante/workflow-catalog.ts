// The registered workflows as lists and detail pages show them. Described once: a schema that cannot be fails at the start.
import { WorkflowNotFoundError } from "../errors/index.ts";
import { describeWorkflow, type WorkflowDescription } from "../workflow/describe-workflow.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import type { WorkflowDetail, WorkflowSummary } from "./andante.ts";

export class WorkflowCatalog {
  readonly #descriptions: ReadonlyMap<string, WorkflowDescription>;
  readonly #isRunning: (workflowId: string) => boolean;

  constructor(workflows: Iterable<WorkflowDefinition>, isRunning: (workflowId: string) => boolean) {
    this.#descriptions = new Map([...workflows].map((workflow) => [workflow.id, describeWorkflow(workflow)]));
    this.#isRunning = isRunning;
  }

  list(): readonly WorkflowSummary[] {
    return [...this.#descriptions.values()].map((description) => this.#summary(description));
  }

  read(workflowId: string): WorkflowDetail {
    const description = this.#descriptions.get(workflowId);
    if (description === undefined) throw new WorkflowNotFoundError({ workflowId });
    return { ...description, ...this.#summary(description) };
  }

  #summary({ id, name, purpose, stepsCount }: WorkflowDescription): WorkflowSummary {
    return { id, name, purpose, stepsCount, status: this.#isRunning(id) ? "running" : "idle" };
  }
}
