// The free functions that make a branch of one step for a container. Those that make containers are in free-containers.ts.

import type { Schema } from "../../values/schema.ts";
import type { DeclaredResume, InferInput, InferResult, ResumeOf } from "../chain-types.ts";
import type { WorkflowDefinition } from "../step.ts";
import type { ResumableBranch } from "../workflow.ts";
import { branchOf } from "../workflow.ts";
import { type AgentOutput, type AgentStepOptions, agentStep } from "./and-agent.ts";
import { type SleepOptions, type SleepUntilOptions, sleepStep, sleepUntilStep } from "./and-sleep.ts";
import { type TapOptions, tapStep } from "./and-tap.ts";
import { type ThenOptions, thenStep } from "./and-then.ts";
import { type WorkflowStepOptions, workflowStep } from "./and-workflow.ts";
import type { BodyOutput } from "./step-options.ts";

export {
  andAll,
  andBranch,
  andDoUntil,
  andDoWhile,
  andForEach,
  andRace,
  andWhen,
} from "./free-containers.ts";

/**
 * Runs a function and passes on its return value.
 *
 * @example
 * ```ts
 * import { andThen, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const double = createWorkflow({ id: "double", input: z.array(z.number()) })
 *   .andForEach({ id: "each", step: andThen({ id: "times-two", execute: ({ data }) => data * 2 }) });
 * ```
 */
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

/**
 * A side effect: the data passes unchanged, a failure does not stop the run.
 *
 * @example
 * ```ts
 * import { andTap, andThen, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const order = createWorkflow({ id: "order", input: z.object({ item: z.string() }) }).andAll({
 *   id: "both",
 *   steps: [
 *     andThen({ id: "pack", execute: ({ data }) => ({ packed: data.item }) }),
 *     andTap({ id: "note", execute: ({ data, logger }) => logger.info({ item: data.item }, "ordered") }),
 *   ],
 * });
 * ```
 */
export function andTap<
  Data,
  Input,
  S extends Schema | undefined = undefined,
  R extends Schema | undefined = undefined,
>(options: TapOptions<Data, Input, S, R>): ResumableBranch<Data, Input, Data, ResumeOf<R>> {
  return branchOf(tapStep(options));
}

/**
 * Asks an agent; the data is then `{ text }`, or an object that fits `schema`.
 *
 * @example
 * ```ts
 * import { Agent, andAgent, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * const judge = new Agent({ id: "judge", model: "openai/gpt-5", instructions: "Rate the text from 1 to 5." });
 * export const rate = createWorkflow({ id: "rate", input: z.array(z.string()) }).andForEach({
 *   id: "each",
 *   step: andAgent({
 *     id: "ask",
 *     agent: judge,
 *     prompt: ({ data }) => data,
 *     schema: z.object({ stars: z.number() }),
 *   }),
 * });
 * ```
 */
export function andAgent<Data, Input, S extends Schema = Schema>(
  options: AgentStepOptions<Data, Input, S>,
): ResumableBranch<Data, Input, AgentOutput<S>, never> {
  return branchOf(agentStep(options));
}

/**
 * Runs another workflow with the data as its input.
 *
 * @example
 * ```ts
 * import { andWorkflow, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * const greet = createWorkflow({ id: "greet", input: z.object({ name: z.string() }) })
 *   .andThen({ id: "write", execute: ({ data }) => `Hello ${data.name}` });
 * export const greetAll = createWorkflow({ id: "greet-all", input: z.array(z.object({ name: z.string() })) })
 *   .andForEach({ id: "each", step: andWorkflow({ id: "one", workflow: greet }) });
 * ```
 */
export function andWorkflow<W extends WorkflowDefinition, Input>(
  options: WorkflowStepOptions<W>,
): ResumableBranch<InferInput<W>, Input, InferResult<W>, DeclaredResume<W>> {
  return branchOf(workflowStep(options));
}

/**
 * Waits for a while; the data passes unchanged.
 *
 * @example
 * ```ts
 * import { andSleep, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const patient = createWorkflow({ id: "patient", input: z.object({ amount: z.number() }) }).andWhen({
 *   id: "large",
 *   condition: ({ data }) => data.amount > 1000,
 *   step: andSleep({ id: "cooling-off", duration: "14d" }),
 * });
 * ```
 */
export function andSleep<Data, Input>(
  options: SleepOptions<Data, Input>,
): ResumableBranch<Data, Input, Data, never> {
  return branchOf(sleepStep(options));
}

/**
 * Waits until a date; the data passes unchanged.
 *
 * @example
 * ```ts
 * import { andSleepUntil, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const remind = createWorkflow({ id: "remind", input: z.object({ due: z.string() }) }).andWhen({
 *   id: "dated",
 *   condition: ({ data }) => data.due !== "",
 *   step: andSleepUntil({ id: "wait", date: ({ data }) => data.due }),
 * });
 * ```
 */
export function andSleepUntil<Data, Input>(
  options: SleepUntilOptions<Data, Input>,
): ResumableBranch<Data, Input, Data, never> {
  return branchOf(sleepUntilStep(options));
}
