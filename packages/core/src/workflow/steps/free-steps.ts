// The free functions that make a branch of one step for a container; containers nest.
import type { AnyEvent } from "../../event/define-event.ts";
import type { Json } from "../../values/json.ts";
import type { Schema } from "../../values/schema.ts";
import type {
  BranchOutput,
  BranchOutputs,
  BranchResume,
  DeclaredResume,
  InferInput,
  InferResult,
  ResumeOf,
} from "../chain-types.ts";
import type { WorkflowDefinition } from "../step.ts";
import { type Branch, branchOf, openBranch, type ResumableBranch } from "../workflow.ts";
import { type AgentOutput, type AgentStepOptions, agentStep } from "./and-agent.ts";
import { allStep, type BranchesOptions, raceStep } from "./and-all.ts";
import { type BranchCase, type BranchOptions, branchStep } from "./and-branch.ts";
import { type ForEachItemsOptions, type ForEachOptions, forEachStep, type ItemOf } from "./and-for-each.ts";
import { doUntilStep, doWhileStep, type LoopOptions } from "./and-loop.ts";
import { type SleepOptions, type SleepUntilOptions, sleepStep, sleepUntilStep } from "./and-sleep.ts";
import { type TapOptions, tapStep } from "./and-tap.ts";
import { type ThenOptions, thenStep } from "./and-then.ts";
import { type WaitForOptions, type WaitOutput, waitForStep } from "./and-wait-for.ts";
import { type WhenOptions, whenStep } from "./and-when.ts";
import { type WorkflowStepOptions, workflowStep } from "./and-workflow.ts";
import type { BodyOutput } from "./step-options.ts";

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

/**
 * Waits for an event; the data is then that of the event, or for several its name and data.
 *
 * @example
 * ```ts
 * import { andSleep, andWaitFor, createWorkflow, defineEvent } from "@andante/core";
 * import { z } from "zod";
 *
 * const paid = defineEvent({ name: "order.paid", data: z.object({ order: z.string() }), key: ({ data }) => data.order });
 * export const order = createWorkflow({ id: "order", input: z.object({ order: z.string() }) }).andRace({
 *   id: "paid-or-late",
 *   steps: [
 *     andWaitFor({ id: "payment", event: paid, key: ({ data }) => data.order }),
 *     andSleep({ id: "late", duration: "3d" }),
 *   ],
 * });
 * ```
 */
export function andWaitFor<Data, Input, const E extends AnyEvent | readonly AnyEvent[], Timeout = never>(
  options: WaitForOptions<Data, Input, E, Timeout>,
): ResumableBranch<Data, Input, WaitOutput<E> | Json<Timeout>, never> {
  return branchOf(waitForStep(options));
}

/**
 * Runs its step when the condition holds; otherwise the data passes unchanged.
 *
 * @example
 * ```ts
 * import { andThen, andWhen, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const trim = createWorkflow({ id: "trim", input: z.array(z.string()) }).andForEach({
 *   id: "each",
 *   step: andWhen({
 *     id: "if-long",
 *     condition: ({ data }) => data.length > 80,
 *     step: andThen({ id: "cut", execute: ({ data }) => data.slice(0, 80) }),
 *   }),
 * });
 * ```
 */
export function andWhen<Data, Output, Input, R>(
  options: WhenOptions<Data, Input, ResumableBranch<Data, Input, Output, R>>,
): ResumableBranch<Data, Input, Data | Output, R> {
  return branchOf(whenStep(options, openBranch));
}

/**
 * Runs all branches at once; the data is then the array of their outputs, in order. In branches made from a list,
 * `steps: list.map((key) => andThen({ … }))`, the `data` is `unknown`: name its type,
 * `execute: ({ data }: { data: Order }) => …`.
 *
 * @example
 * ```ts
 * import { andAll, andThen, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const measure = createWorkflow({ id: "measure", input: z.array(z.string()) }).andForEach({
 *   id: "each",
 *   step: andAll({
 *     id: "both",
 *     steps: [
 *       andThen({ id: "letters", execute: ({ data }) => data.length }),
 *       andThen({ id: "words", execute: ({ data }) => data.split(" ").length }),
 *     ],
 *   }),
 * });
 * ```
 */
export function andAll<Data, const Branches extends readonly Branch<Data, Input>[], Input>(
  options: BranchesOptions<Branches>,
): ResumableBranch<Data, Input, BranchOutputs<Branches>, BranchResume<Branches[number]>> {
  return branchOf(allStep(options, openBranch));
}

/**
 * Runs all branches at once and continues with the first that succeeds.
 *
 * @example
 * ```ts
 * import { andRace, andThen, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const read = createWorkflow({ id: "read", input: z.array(z.url()) }).andForEach({
 *   id: "each",
 *   step: andRace({
 *     id: "fastest",
 *     steps: [
 *       andThen({ id: "one", execute: async ({ data, signal }) => (await fetch(data, { signal })).text() }),
 *       andThen({ id: "two", execute: async ({ data, signal }) => (await fetch(data, { signal })).text() }),
 *     ],
 *   }),
 * });
 * ```
 */
export function andRace<Data, const Branches extends readonly Branch<Data, Input>[], Input>(
  options: BranchesOptions<Branches>,
): ResumableBranch<Data, Input, BranchOutputs<Branches>[number], BranchResume<Branches[number]>> {
  return branchOf(raceStep(options, openBranch));
}

/**
 * Runs its step for each item of an array; the data is then the array of the outputs, in order. With `items`, write
 * the step as a chain, `(item) => item.andThen({ … })`: in `andThen({ … })` alone the `data` is `unknown`.
 *
 * @example
 * ```ts
 * import { andForEach, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const count = createWorkflow({ id: "count", input: z.object({ text: z.string() }) }).andWhen({
 *   id: "if-any",
 *   condition: ({ data }) => data.text !== "",
 *   step: andForEach({
 *     id: "each",
 *     items: ({ data }) => data.text.split(" "),
 *     step: (word) => word.andThen({ id: "letters", execute: ({ data }) => data.length }),
 *   }),
 * });
 * ```
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

/**
 * Runs its step, then again with its own output while the condition holds.
 *
 * @example
 * ```ts
 * import { andDoWhile, andThen, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const halve = createWorkflow({ id: "halve", input: z.array(z.number()) }).andForEach({
 *   id: "each",
 *   step: andDoWhile({
 *     id: "again",
 *     step: andThen({ id: "half", execute: ({ data }) => data / 2 }),
 *     condition: ({ data }) => data > 1,
 *   }),
 * });
 * ```
 */
export function andDoWhile<Data, Output extends Data, Input, R>(
  options: LoopOptions<Data, Input, ResumableBranch<Data, Input, Output, R>>,
): ResumableBranch<Data, Input, Data, R> {
  return branchOf(doWhileStep(options, openBranch));
}

/**
 * Runs its step, then again with its own output until the condition holds.
 *
 * @example
 * ```ts
 * import { andDoUntil, andThen, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const grow = createWorkflow({ id: "grow", input: z.array(z.number()) }).andForEach({
 *   id: "each",
 *   step: andDoUntil({
 *     id: "again",
 *     step: andThen({ id: "double", execute: ({ data }) => data * 2 }),
 *     condition: ({ data }) => data > 100,
 *   }),
 * });
 * ```
 */
export function andDoUntil<Data, Output extends Data, Input, R>(
  options: LoopOptions<Data, Input, ResumableBranch<Data, Input, Output, R>>,
): ResumableBranch<Data, Input, Data, R> {
  return branchOf(doUntilStep(options, openBranch));
}

/**
 * Runs the first branch whose condition holds; when none does, the data passes unchanged.
 *
 * @example
 * ```ts
 * import { andBranch, andThen, createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const ship = createWorkflow({ id: "ship", input: z.array(z.number()) }).andForEach({
 *   id: "each",
 *   step: andBranch({
 *     id: "by-weight",
 *     branches: [
 *       { condition: ({ data }) => data < 2, step: andThen({ id: "letter", execute: () => "letter" }) },
 *       { condition: () => true, step: andThen({ id: "parcel", execute: () => "parcel" }) },
 *     ],
 *   }),
 * });
 * ```
 */
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
