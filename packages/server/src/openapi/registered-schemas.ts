// One schema for each registered workflow and agent, so that generated clients have types for inputs and results.
import type { AgentSummary, WorkflowDetail } from "@andante/core/internal";
import type { JsonObject } from "./json-object.ts";
import { pascalCase, SchemaRegistry } from "./schema-registry.ts";

/** The definitions that the caller may see. */
export interface Registered {
  readonly workflows: readonly WorkflowDetail[];
  readonly agents: readonly AgentSummary[];
}

type Step = WorkflowDetail["steps"][number];

/** `taken` are the names of the other schemas. */
export function registeredSchemas({ workflows, agents }: Registered, taken: Iterable<string>): JsonObject {
  const shelf = new SchemaRegistry(taken);
  for (const workflow of workflows) addWorkflow(shelf, workflow);
  for (const agent of agents) addAgent(shelf, agent);
  return shelf.schemas;
}

function addWorkflow(shelf: SchemaRegistry, workflow: WorkflowDetail): void {
  const { id, purpose, inputSchema, resultSchema } = workflow;
  const name = `${pascalCase(id)}Workflow`;
  const input = shelf.add(`${name}Input`, inputSchema);
  const result = resultSchema === null ? {} : shelf.add(`${name}Result`, resultSchema);
  const resumptions = resumeSchemasOf(workflow).map(([step, schema]) =>
    shelf.add(`${name}${pascalCase(step)}ResumeData`, schema),
  );
  const resumeData = resumptions.length === 0 ? {} : { resumeData: { anyOf: resumptions } };
  shelf.put(name, {
    type: "object",
    description: purpose,
    properties: { id: { type: "string", const: id }, input, result, ...resumeData },
    required: ["id", "input", "result", ...Object.keys(resumeData)],
  });
}

/** The resume schemas of its steps, and the workflow's default for steps without one. */
function resumeSchemasOf({ resumeSchema, steps }: WorkflowDetail): [step: string, schema: JsonObject][] {
  const ofSteps = (inside: readonly Step[]): [string, JsonObject][] =>
    inside.flatMap((step) => [
      ...(step.resumeSchema === undefined ? [] : [[step.id, step.resumeSchema] as [string, JsonObject]]),
      ...ofSteps(step.steps ?? []),
    ]);
  return [...(resumeSchema === null ? [] : [["", resumeSchema] as [string, JsonObject]]), ...ofSteps(steps)];
}

function addAgent(shelf: SchemaRegistry, { id, purpose, tools }: AgentSummary): void {
  const name = `${pascalCase(id)}Agent`;
  const inputs = tools.map((tool) => {
    const input = shelf.add(`${name}${pascalCase(tool.name)}Input`, tool.inputSchema);
    return [tool.name, input] as const;
  });
  const required = inputs.map(([tool]) => tool);
  shelf.put(name, {
    type: "object",
    description: purpose,
    properties: {
      id: { type: "string", const: id },
      tools: {
        type: "object",
        description: "What each of its tools is called with",
        properties: Object.fromEntries(inputs),
        required,
      },
    },
    required: ["id", "tools"],
  });
}
