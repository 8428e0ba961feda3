// Registers the host's workflows by their own ids.
import { DefinitionError } from "../errors/index.ts";
import { childPath, iterationPath } from "../values/step-path.ts";
import { innerSteps, type Step, type WorkflowDefinition } from "./step.ts";

/**
 * Bytes of the path of a step. PostgreSQL's indexes hold paths, each beside the id of the execution or workflow, and sometimes
 * with the id of a function: 1000 and twice 600 bytes, of about 2700 that fit.
 */
const maxPathLength = 1000;
/** The path of a step in an iteration has its number: room for so many of them. */
const highestIteration = 9_999_999;

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
    checkPaths(workflow.steps, "", where);
    registered.set(workflow.id, workflow);
  }
  return registered;
}

function checkPaths(steps: readonly Step[], container: string, where: string): void {
  for (const step of steps) {
    const path = childPath(container, step.id);
    if (Buffer.byteLength(path) > maxPathLength) {
      const problem = `the path ${path.slice(0, 100)}… of a step is longer than ${maxPathLength} bytes: shorten ids, or nest less deeply`;
      throw new DefinitionError({ where, problem });
    }
    for (const branch of innerSteps(step)) checkPaths(branch, insideOf(step, path), where);
  }
}

function insideOf({ type }: Step, path: string): string {
  const iterates = type === "andForEach" || type === "andDoWhile" || type === "andDoUntil";
  return iterates ? iterationPath(path, highestIteration) : path;
}
