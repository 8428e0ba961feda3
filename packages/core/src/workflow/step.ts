// Steps and workflows as the engine sees them: plain immutable data with the host's functions in it.
import type { ModelMessage, TelemetryOptions, UIMessage } from "ai";
import type { AnyEvent } from "../event/define-event.ts";
import type { ScheduleSpec } from "../schedule/schedule-options.ts";
import type { Schema } from "../values/schema.ts";
import type { WorkflowHooks } from "./hooks.ts";
import type { RetryPolicy } from "./retry.ts";
import type { FunctionContext, StepContext } from "./step-context.ts";

export type Step =
  | ThenStep
  | TapStep
  | WhenStep
  | AllStep
  | RaceStep
  | AgentStep
  | WorkflowStep
  | ForEachStep
  | DoWhileStep
  | DoUntilStep
  | BranchStep
  | SleepStep
  | SleepUntilStep
  | WaitForStep;
export type StepType = Step["type"];

/** The fields of every kind of step. */
export interface StepBase {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly inputSchema: Schema | undefined;
  readonly outputSchema: Schema | undefined;
  readonly suspendSchema: Schema | undefined;
  readonly resumeSchema: Schema | undefined;
  /** How often its functions may run; undefined means once. */
  readonly retry: RetryPolicy | undefined;
  /** Milliseconds that one attempt may take. */
  readonly timeout: number | undefined;
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
  readonly prompt: AgentPrompt | PromptFunction["prompt"];
  /** The shape of the reply; the step's output schema too. */
  readonly schema: Schema | undefined;
  /** A reply counts that stopped before it was complete. */
  readonly allowIncomplete: boolean;
  readonly budget: ExecutionBudget | undefined;
  /** The AI SDK's call options for the agent. */
  readonly callOptions?: object | ((context: FunctionContext) => unknown) | undefined;
  /** Milliseconds that a call of a model may wait for its provider; undefined when it may not. */
  readonly maxWait?: number | undefined;
  /** Whether the agent sees the conversation of the execution. Default: false. */
  readonly readsConversation?: boolean;
}

/** The limit of all agents of one execution together. */
export interface ExecutionBudget {
  /** Tokens of all model calls of the execution so far. Default: no limit. */
  readonly tokens?: number;
  /** Model calls of the execution so far. Default: no limit. */
  readonly calls?: number;
  /**
   * `stop`: the reply ends where it is, which fails the step unless it has `allowIncomplete`. `suspend`: the execution
   * waits for a person, who resumes it with `{ approved, tokens?, calls? }`: how much more it may use. Default: `stop`.
   */
  readonly onReached?: "stop" | "suspend";
}

/** The interface of an agent for workflows: a prompt in, text out. Every agent of the AI SDK is one. */
export interface WorkflowAgent {
  readonly id?: string | undefined;
  generate(options: {
    prompt: string;
    abortSignal: AbortSignal;
    /** Where spans and token counts go; an agent that does not know it may ignore it. */
    telemetry?: TelemetryOptions;
  }): PromiseLike<{ readonly text: string }>;
}

export interface PromptFunction<Data = unknown, Input = unknown> {
  prompt(context: FunctionContext<Data, Input>): AgentPrompt | Promise<AgentPrompt>;
}

/** A prompt: a string, messages in the form of models (with files), or messages of a chat. */
export type AgentPrompt = string | readonly ModelMessage[] | readonly UIMessage[];

export interface WorkflowStep extends StepBase {
  readonly type: "andWorkflow";
  readonly workflow: WorkflowDefinition;
}

export interface ForEachStep extends StepBase {
  readonly type: "andForEach";
  readonly items: ((context: FunctionContext) => unknown) | undefined;
  readonly steps: readonly Step[];
  readonly concurrency: number;
}

export interface LoopStep extends StepBase {
  readonly steps: readonly Step[];
  condition(context: FunctionContext): unknown;
}

export interface DoWhileStep extends LoopStep {
  readonly type: "andDoWhile";
}

export interface DoUntilStep extends LoopStep {
  readonly type: "andDoUntil";
}

export interface BranchStep extends StepBase {
  readonly type: "andBranch";
  readonly cases: readonly {
    condition(context: FunctionContext): unknown;
    readonly steps: readonly Step[];
  }[];
}

export interface SleepStep extends StepBase {
  readonly type: "andSleep";
  /** Milliseconds, or a function that returns them. */
  readonly duration: number | ((context: FunctionContext) => unknown);
}

export interface SleepUntilStep extends StepBase {
  readonly type: "andSleepUntil";
  /** Milliseconds since 1970, or a function that returns them. */
  readonly date: number | ((context: FunctionContext) => unknown);
}

export interface WaitForStep extends StepBase {
  readonly type: "andWaitFor";
  readonly events: readonly AnyEvent[];
  execute(context: StepContext): unknown;
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
  /** Milliseconds after its start at which an execution that has not ended fails. */
  readonly timeout: number | undefined;
  readonly steps: readonly Step[];
  /** Hooks of its executions. Default: none. */
  readonly hooks?: WorkflowHooks | undefined;
  /** Tags of every execution of it. Default: none. */
  readonly tags?: readonly string[] | undefined;
  /** The values by which its executions are found. Default: all. */
  readonly search?: WorkflowSearch | undefined;
  /** Its schedules, by name. Default: none. */
  readonly schedules?: ReadonlyMap<string, WorkflowSchedule> | undefined;
  /** The events that start executions of it. Default: none. */
  readonly on?: readonly WorkflowTrigger[] | undefined;
  /** The events that cancel its executions. Default: none. */
  readonly cancelOn?: WorkflowCancelOn | undefined;
  /** Only tools of agents start it; for a caller who would, it does not exist. Default: false. */
  readonly onlyChildren?: boolean | undefined;
}

/** An event that starts executions. */
export interface WorkflowTrigger {
  readonly event: AnyEvent;
  input?(event: { readonly data: unknown }): unknown;
  if?(event: { readonly data: unknown }): unknown;
}

/** The events that cancel executions. */
export interface WorkflowCancelOn {
  readonly events: readonly AnyEvent[];
  key?(execution: { readonly input: unknown }): string;
}

/** A schedule that is declared in code. */
export interface WorkflowSchedule {
  readonly spec: ScheduleSpec;
  /** The input of its executions, or a function of the nominal time. */
  readonly input: unknown;
}

/** False: executions are not found by their values. `exclude`: the paths of values that are left out, with all below. */
export type WorkflowSearch = false | { readonly exclude: readonly string[] };

/** The branches a container holds: several for andAll, andRace and andBranch, one for the others; none for other steps. */
export function innerSteps(step: Step): readonly (readonly Step[])[] {
  switch (step.type) {
    case "andAll":
    case "andRace":
      return step.branches;
    case "andWhen":
    case "andForEach":
    case "andDoWhile":
    case "andDoUntil":
      return [step.steps];
    case "andBranch":
      return step.cases.map(({ steps }) => steps);
    case "andWorkflow":
      return [step.workflow.steps];
    default:
      return [];
  }
}

/** Whether a step asks an agent, at any depth. */
export function asksAgents(steps: readonly Step[]): boolean {
  return steps.some((step) => step.type === "andAgent" || innerSteps(step).some(asksAgents));
}

/** The agents that the steps ask, at any depth. */
export function agentsIn(steps: readonly Step[]): WorkflowAgent[] {
  return steps.flatMap((step) => [
    ...(step.type === "andAgent" ? [step.agent] : []),
    ...innerSteps(step).flatMap(agentsIn),
  ]);
}
