// Steps and workflows as the engine sees them: plain immutable data with the host's functions in it.
import type { TelemetryOptions } from "ai";
import type { Schema } from "./schema.ts";
import type { FunctionContext, StepContext } from "./step-context.ts";

export type Step = ThenStep | TapStep | WhenStep | AllStep | RaceStep | AgentStep | WorkflowStep;
export type StepType = Step["type"];

/** What every step has, whatever its kind. */
export interface StepBase {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly inputSchema: Schema | undefined;
  readonly outputSchema: Schema | undefined;
  readonly suspendSchema: Schema | undefined;
  readonly resumeSchema: Schema | undefined;
}

export interface ThenStep extends StepBase {
  readonly type: "andThen";
  execute(context: StepContext): unknown;
}

export interface TapStep extends StepBase {
  readonly type: "andTap";
  execute(context: StepContext): unknown;
}

export interface WhenStep extends StepBase {
  readonly type: "andWhen";
  readonly steps: readonly Step[];
  condition(context: FunctionContext): unknown;
}

export interface AllStep extends StepBase {
  readonly type: "andAll";
  readonly branches: readonly (readonly Step[])[];
}

export interface RaceStep extends StepBase {
  readonly type: "andRace";
  readonly branches: readonly (readonly Step[])[];
}

export interface AgentStep extends StepBase {
  readonly type: "andAgent";
  readonly agent: WorkflowAgent;
  readonly prompt: string | PromptFunction["prompt"];
  /** The shape of the answer; the step's output schema too. */
  readonly schema: Schema | undefined;
}

/** What a workflow asks of an agent: a prompt in, a text out. Every agent of the AI SDK is one. */
export interface WorkflowAgent {
  readonly id?: string | undefined;
  generate(options: {
    prompt: string;
    abortSignal: AbortSignal;
    /** Where spans and token counts go; an agent that does not know it may leave it aside. */
    telemetry?: TelemetryOptions;
  }): PromiseLike<{ readonly text: string }>;
}

export interface PromptFunction<Data = unknown, Input = unknown> {
  prompt(context: FunctionContext<Data, Input>): string | Promise<string>;
}

export interface WorkflowStep extends StepBase {
  readonly type: "andWorkflow";
  readonly workflow: WorkflowDefinition;
}

/** A registered, immutable definition: an ordered chain of steps with schemas. */
export interface WorkflowDefinition {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly inputSchema: Schema;
  readonly resultSchema: Schema | undefined;
  readonly suspendSchema: Schema | undefined;
  readonly resumeSchema: Schema | undefined;
  readonly steps: readonly Step[];
}

/** The branches a container holds: several for andAll and andRace, one for andWhen and andWorkflow, else none. */
export function innerSteps(step: Step): readonly (readonly Step[])[] {
  switch (step.type) {
    case "andAll":
    case "andRace":
      return step.branches;
    case "andWhen":
      return [step.steps];
    case "andWorkflow":
      return [step.workflow.steps];
    default:
      return [];
  }
}
