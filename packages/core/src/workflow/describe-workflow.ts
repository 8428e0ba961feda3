// A workflow and its steps as JSON, in the contract's names.
import { type JsonSchema, type Schema, toJsonSchema } from "../values/schema.ts";
import { innerSteps, type Step, type StepType, type WorkflowDefinition } from "./step.ts";

export interface StepDescription {
  readonly id: string;
  readonly name: string;
  readonly type: StepType;
  readonly purpose: string;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly suspendSchema?: JsonSchema;
  readonly resumeSchema?: JsonSchema;
  /** The steps inside a container. */
  readonly steps?: readonly StepDescription[];
}

export interface WorkflowDescription {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly stepsCount: number;
  readonly steps: readonly StepDescription[];
  readonly inputSchema: JsonSchema;
  readonly resultSchema: JsonSchema | null;
  readonly suspendSchema: JsonSchema | null;
  readonly resumeSchema: JsonSchema | null;
}

export function describeWorkflow(workflow: WorkflowDefinition): WorkflowDescription {
  const where = `Workflow "${workflow.id}"`;
  const optional = (schema: Schema | undefined, side: "input" | "output") =>
    schema === undefined ? null : toJsonSchema(schema, side, where);
  return {
    id: workflow.id,
    name: workflow.name,
    purpose: workflow.purpose,
    stepsCount: workflow.steps.length,
    steps: workflow.steps.map((step) => describeStep(step, where)),
    inputSchema: toJsonSchema(workflow.inputSchema, "input", where),
    resultSchema: optional(workflow.resultSchema, "output"),
    suspendSchema: optional(workflow.suspendSchema, "output"),
    resumeSchema: optional(workflow.resumeSchema, "input"),
  };
}

function describeStep(step: Step, parent: string): StepDescription {
  const where = `${parent}, ${step.type} "${step.id}"`;
  const inner = innerSteps(step).flat();
  return {
    id: step.id,
    name: step.name,
    type: step.type,
    purpose: step.purpose,
    ...(step.inputSchema && { inputSchema: toJsonSchema(step.inputSchema, "input", where) }),
    ...(step.outputSchema && { outputSchema: toJsonSchema(step.outputSchema, "output", where) }),
    ...(step.suspendSchema && { suspendSchema: toJsonSchema(step.suspendSchema, "output", where) }),
    ...(step.resumeSchema && { resumeSchema: toJsonSchema(step.resumeSchema, "input", where) }),
    ...(inner.length > 0 && { steps: inner.map((child) => describeStep(child, where)) }),
  };
}
