// The free functions that make a branch of one step for a container.

import type { Json } from "../../values/json.ts";
import type { Schema } from "../../values/schema.ts";
import type {
  Branch,
  BranchOutput,
  BranchOutputs,
  BranchResume,
  DeclaredResume,
  InferInput,
  InferResult,
  ResumableBranch,
  ResumeOf,
} from "../chain-types.ts";
import type { WorkflowDefinition } from "../step.ts";
import { branchOf, openBranch } from "../workflow.ts";
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
export function andThen<
  Data,
  Output,
  Input,
  S extends Schema | undefined = undefined,
  R extends Schema | undefined = undefined,
>(
  options: ThenOptions<Data, Input, Output, S, R>,
): ResumableBranch<Data, Input, BodyOutput<Output>, ResumeOf<R>> {
  return branchOf(thenStep(options));
}

/** A side effect: the data passes unchanged, a failure does not stop the run. */
export function andTap<
  Data,
  Input,
  S extends Schema | undefined = undefined,
  R extends Schema | undefined = undefined,
>(options: TapOptions<Data, Input, S, R>): ResumableBranch<Data, Input, Data, ResumeOf<R>> {
  return branchOf(tapStep(options));
}

/** Runs its step when the condition holds; otherwise the data passes unchanged. */
export function andWhen<Data, Output, Input, R>(
  options: WhenOptions<Data, Input, ResumableBranch<Data, Input, Output, R>>,
): ResumableBranch<Data, Input, Data | Output, R> {
  return branchOf(whenStep(options, openBranch));
}

/** Runs all branches at once; the data is then the array of their outputs, in order. */
export function andAll<Data, const Branches extends readonly Branch<Data, Input>[], Input>(
  options: BranchesOptions<Branches>,
): ResumableBranch<Data, Input, BranchOutputs<Branches>, BranchResume<Branches[number]>> {
  return branchOf(allStep(options, openBranch));
}

/** Runs all branches at once and continues with the first that succeeds. */
export function andRace<Data, const Branches extends readonly Branch<Data, Input>[], Input>(
  options: BranchesOptions<Branches>,
): ResumableBranch<Data, Input, BranchOutputs<Branches>[number], BranchResume<Branches[number]>> {
  return branchOf(raceStep(options, openBranch));
}

/** Asks an agent; the data is then `{ text }`, or an object that fits `schema`. */
export function andAgent<Data, Input, S extends Schema = Schema>(
  options: AgentStepOptions<Data, Input, S>,
): ResumableBranch<Data, Input, AgentOutput<S>, never> {
  return branchOf(agentStep(options));
}

/** Runs another workflow with the data as its input. */
export function andWorkflow<W extends WorkflowDefinition, Input>(
  options: WorkflowStepOptions<W>,
): ResumableBranch<InferInput<W>, Input, InferResult<W>, DeclaredResume<W>> {
  return branchOf(workflowStep(options));
}

/**
 * Runs its step for each item of an array; the data is then the array of the outputs, in order. With `items`, write
 * the step as a chain: `(item) => item.andThen({ … })`.
 */
export function andForEach<Data, Output, Input, R>(
  options: ForEachOptions<ResumableBranch<ItemOf<Data>, Input, Output, R>> & { readonly items?: never },
): ResumableBranch<Data, Input, Output[], R>;
export function andForEach<Data, Output, Item, Input, R>(
  options: ForEachItemsOptions<Data, Input, Item, ResumableBranch<NoInfer<Json<Item>>, Input, Output, R>>,
): ResumableBranch<Data, Input, Output[], R>;
export function andForEach<Data, Input, R>(
  options: ForEachOptions<unknown>,
): ResumableBranch<Data, Input, unknown[], R> {
  return branchOf(forEachStep(options, openBranch));
}

/** Runs its step, then again with its own output while the condition holds. */
export function andDoWhile<Data, Output extends Data, Input, R>(
  options: LoopOptions<Data, Input, ResumableBranch<Data, Input, Output, R>>,
): ResumableBranch<Data, Input, Data, R> {
  return branchOf(doWhileStep(options, openBranch));
}

/** Runs its step, then again with its own output until the condition holds. */
export function andDoUntil<Data, Output extends Data, Input, R>(
  options: LoopOptions<Data, Input, ResumableBranch<Data, Input, Output, R>>,
): ResumableBranch<Data, Input, Data, R> {
  return branchOf(doUntilStep(options, openBranch));
}

/** Runs the first branch whose condition holds; when none does, the data passes unchanged. */
export function andBranch<
  Data,
  const Cases extends readonly BranchCase<Data, Input, Branch<Data, Input>>[],
  Input,
>(
  options: BranchOptions<Cases>,
): ResumableBranch<
  Data,
  Input,
  Data | BranchOutput<Cases[number]["step"]>,
  BranchResume<Cases[number]["step"]>
> {
  return branchOf(branchStep(options, openBranch));
}

/** Waits for a while; the data passes unchanged. */
export function andSleep<Data, Input>(
  options: SleepOptions<Data, Input>,
): ResumableBranch<Data, Input, Data, never> {
  return branchOf(sleepStep(options));
}

/** Waits until a date; the data passes unchanged. */
export function andSleepUntil<Data, Input>(
  options: SleepUntilOptions<Data, Input>,
): ResumableBranch<Data, Input, Data, never> {
  return branchOf(sleepUntilStep(options));
}
