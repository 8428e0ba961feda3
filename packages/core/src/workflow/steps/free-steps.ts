// The free functions that make one step for a container's branch.

import type { Json } from "../../values/json.ts";
import type { Schema } from "../../values/schema.ts";
import {
  type Branch,
  type BranchOutput,
  type BranchOutputs,
  type ChildWorkflow,
  openBranch,
  type TypedStep,
} from "../workflow.ts";
import { type AgentOutput, type AgentStepOptions, agentStep } from "./and-agent.ts";
import { allStep } from "./and-all.ts";
import { type BranchCase, type BranchOptions, branchStep } from "./and-branch.ts";
import { type ForEachItemsOptions, type ForEachOptions, forEachStep, type ItemOf } from "./and-for-each.ts";
import { doUntilStep, doWhileStep, type LoopOptions } from "./and-loop.ts";
import { raceStep } from "./and-race.ts";
import { type SleepOptions, type SleepUntilOptions, sleepStep, sleepUntilStep } from "./and-sleep.ts";
import { type TapOptions, tapStep } from "./and-tap.ts";
import { type ThenOptions, thenStep } from "./and-then.ts";
import { type WhenOptions, whenStep } from "./and-when.ts";
import { type WorkflowStepOptions, workflowStep } from "./and-workflow.ts";
import type { BranchesOptions } from "./branches.ts";
import type { BodyOutput } from "./step-options.ts";

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
  options: AgentStepOptions<Data, Input, S>,
): TypedStep<Data, AgentOutput<S>> {
  return agentStep(options);
}

/** Runs another workflow with the data as its input. */
export function andWorkflow<Data, Output>(
  options: WorkflowStepOptions<ChildWorkflow<Data, Output>>,
): TypedStep<Data, Output> {
  return workflowStep(options);
}

/** Runs its step for each item of a list; the data is then the list of the outputs, in order. */
export function andForEach<Data, Output, Input = unknown>(
  options: ForEachOptions<Branch<ItemOf<Data>, Input, Output>> & { readonly items?: never },
): TypedStep<Data, Output[]>;
export function andForEach<Data, Output, Item, Input = unknown>(
  options: ForEachItemsOptions<Data, Input, Item, Branch<Json<Item>, Input, Output>>,
): TypedStep<Data, Output[]>;
export function andForEach(options: ForEachOptions<unknown>): TypedStep<unknown, unknown[]> {
  return forEachStep(options, openBranch);
}

/** Runs its step, then again with its own output while the condition holds. */
export function andDoWhile<Data, Input = unknown>(
  options: LoopOptions<Data, Input, Branch<Data, Input, Data>>,
): TypedStep<Data, Data> {
  return doWhileStep(options, openBranch);
}

/** Runs its step, then again with its own output until the condition holds. */
export function andDoUntil<Data, Input = unknown>(
  options: LoopOptions<Data, Input, Branch<Data, Input, Data>>,
): TypedStep<Data, Data> {
  return doUntilStep(options, openBranch);
}

/** Runs the first branch whose condition holds; when none does, the data passes unchanged. */
export function andBranch<
  Data,
  const Cases extends readonly BranchCase<Data, Input, Branch<Data, Input>>[],
  Input = unknown,
>(options: BranchOptions<Cases>): TypedStep<Data, Data | BranchOutput<Cases[number]["step"]>> {
  return branchStep(options, openBranch);
}

/** Waits for a while; the data passes unchanged. */
export function andSleep<Data, Input = unknown>(options: SleepOptions<Data, Input>): TypedStep<Data, Data> {
  return sleepStep(options);
}

/** Waits for a moment; the data passes unchanged. */
export function andSleepUntil<Data, Input = unknown>(
  options: SleepUntilOptions<Data, Input>,
): TypedStep<Data, Data> {
  return sleepUntilStep(options);
}
