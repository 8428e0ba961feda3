// The free functions that make one step for a container's branch.
import { type AgentOptions, type AgentOutput, agentStep } from "./and-agent.ts";
import { allStep } from "./and-all.ts";
import { raceStep } from "./and-race.ts";
import { type TapOptions, tapStep } from "./and-tap.ts";
import { type ThenOptions, thenStep } from "./and-then.ts";
import { type WhenOptions, whenStep } from "./and-when.ts";
import { type WorkflowStepOptions, workflowStep } from "./and-workflow.ts";
import type { BranchesOptions } from "./branches.ts";
import type { Schema } from "./schema.ts";
import type { BodyOutput } from "./step-options.ts";
import {
  type Branch,
  type BranchOutputs,
  type ChildWorkflow,
  openBranch,
  type TypedStep,
} from "./workflow.ts";

/** Runs a function and passes on what it returns. */
export function andThen<Data, Output, Input = unknown, S extends Schema = Schema, R extends Schema = Schema>(
  options: ThenOptions<Data, Input, Output, S, R>,
): TypedStep<Data, BodyOutput<Output>> {
  return thenStep(options);
}

/** A side effect: the data passes unchanged, a failure does not stop the run. */
export function andTap<Data, Input = unknown, S extends Schema = Schema, R extends Schema = Schema>(
  options: TapOptions<Data, Input, S, R>,
): TypedStep<Data, Data> {
  return tapStep(options);
}

/** Runs its step when the condition holds; otherwise the data passes unchanged. */
export function andWhen<Data, Output, Input = unknown>(
  options: WhenOptions<Data, Input, Branch<Data, Input, Output>>,
): TypedStep<Data, Data | Output> {
  return whenStep(options, openBranch);
}

/** Runs all branches at once; the data is then the array of their outputs, in order. */
export function andAll<Data, const Branches extends readonly Branch<Data, Input>[], Input = unknown>(
  options: BranchesOptions<Branches>,
): TypedStep<Data, BranchOutputs<Branches>> {
  return allStep(options, openBranch);
}

/** Runs all branches at once and goes on with the first that succeeds. */
export function andRace<Data, const Branches extends readonly Branch<Data, Input>[], Input = unknown>(
  options: BranchesOptions<Branches>,
): TypedStep<Data, BranchOutputs<Branches>[number]> {
  return raceStep(options, openBranch);
}

/** Asks an agent; the data is then `{ text }`, or an object that fits `schema`. */
export function andAgent<Data, S extends Schema = Schema, Input = unknown>(
  options: AgentOptions<Data, Input, S>,
): TypedStep<Data, AgentOutput<S>> {
  return agentStep(options);
}

/** Runs another workflow with the data as its input. */
export function andWorkflow<Data, Output>(
  options: WorkflowStepOptions<ChildWorkflow<Data, Output>>,
): TypedStep<Data, Output> {
  return workflowStep(options);
}
