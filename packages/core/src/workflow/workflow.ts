// The chain builder: immutable, and the types flow from each step to the next.
import { DefinitionError } from "../errors/index.ts";
import type { AnyEvent } from "../event/define-event.ts";
import type { Json } from "../values/json.ts";
import type { Schema } from "../values/schema.ts";
import type {
  BranchOutput,
  BranchOutputs,
  BranchResume,
  DeclaredResume,
  HasInput,
  HasOutput,
  HasResume,
  InferResult,
  Named,
  ResumeOf,
  SameAsOutput,
} from "./chain-types.ts";
import type { WorkflowHooks } from "./hooks.ts";
import type { Step, WorkflowDefinition, WorkflowSearch } from "./step.ts";
import { type AgentOutput, type AgentStepOptions, agentStep } from "./steps/and-agent.ts";
import { allStep, type BranchesOptions, raceStep } from "./steps/and-all.ts";
import { type BranchCase, type BranchOptions, branchStep } from "./steps/and-branch.ts";
import {
  type ForEachItemsOptions,
  type ForEachOptions,
  forEachStep,
  type ItemOf,
} from "./steps/and-for-each.ts";
import { doUntilStep, doWhileStep, type LoopOptions } from "./steps/and-loop.ts";
import { type SleepOptions, type SleepUntilOptions, sleepStep, sleepUntilStep } from "./steps/and-sleep.ts";
import { type TapOptions, tapStep } from "./steps/and-tap.ts";
import { type ThenOptions, thenStep } from "./steps/and-then.ts";
import { type WaitForOptions, type WaitOutput, waitForStep } from "./steps/and-wait-for.ts";
import { type WhenOptions, whenStep } from "./steps/and-when.ts";
import { type WorkflowStepOptions, workflowStep } from "./steps/and-workflow.ts";
import { appendStep, type BodyOutput } from "./steps/step-options.ts";

/** The chain that a branch extends. */
export type Chain<Input, Data> = WorkflowChain<Input, Data, string, never, never, never, SameAsOutput>;

/**
 * A branch of a container: a function that extends a chain. The free functions such as `andThen({ … })` make one with
 * a single step; a longer one is written out: `(chain) => chain.andThen({ … }).andThen({ … })`.
 *
 * Nothing but a function type: TypeScript defers a call that returns one until it knows the data that the container passes to
 * its branches, so `data` has its type inside `andThen({ … })` too. A type with properties beside the call would not
 * do.
 */
export type Branch<in Data, in Input, out Output = unknown> = (
  chain: Chain<Input, Data>,
) => HasOutput<Output>;

/** A branch whose resume data are inferred too. */
export type ResumableBranch<in Data, in Input, out Output, out Resume> = (
  chain: Chain<Input, Data>,
) => HasOutput<Output> & HasResume<Resume>;

/** The types of a workflow. A type that is left out fits any workflow. */
export interface WorkflowTypes {
  readonly id?: string;
  /** The input that callers pass. */
  readonly input?: unknown;
  /** The input after its schema, as the steps see it. */
  readonly parsed?: unknown;
  /** The output of the last step. */
  readonly output?: unknown;
  /** The output of the result schema; `SameAsOutput` without one. */
  readonly result?: unknown;
  /** The resume data of its steps. */
  readonly resume?: unknown;
  /** The ids of its top-level steps. */
  readonly steps?: string;
}

/**
 * A workflow: an ordered chain of steps with schemas, made by `createWorkflow`. Each `andX` returns a new one and
 * leaves this as it was. Without a parameter the type is that of any workflow.
 *
 * The intersection adds no member. Editors show the name of an intersection, and of a class only its own name with
 * its positional parameters (decision 36).
 *
 * @example
 * ```ts
 * import { createWorkflow, type Workflow } from "@andante/core";
 * import { z } from "zod";
 *
 * const double = (chain: Workflow<{ output: number }>) =>
 *   chain.andThen({ id: "double", execute: ({ data }) => data * 2 });
 *
 * export const both = createWorkflow({ id: "both", input: z.number() }).andAll({ id: "all", steps: [double] });
 * ```
 */
export type Workflow<T extends WorkflowTypes = WorkflowTypes> = WorkflowChain<
  T extends { readonly parsed: infer Parsed } ? Parsed : unknown,
  T extends { readonly output: infer Output } ? Output : unknown,
  T extends { readonly id: infer Id extends string } ? Id : string,
  T extends { readonly input: infer Input } ? Input : never,
  T extends { readonly steps: infer Ids extends string } ? Ids : string,
  T extends { readonly resume: infer Resume } ? Resume : unknown,
  T extends { readonly result: infer Result } ? Result : unknown
> &
  (T extends Required<WorkflowTypes> ? WorkflowDefinition : unknown);

/** A workflow by positional types. The member access keeps the name `Workflow` in editors. */
type Next<Input, Data, Id extends string, Accepts, StepIds extends string, Resume, Result> = {
  workflow: Workflow<{
    id: Id;
    input: Accepts;
    parsed: Input;
    output: Data;
    result: Result;
    resume: Resume;
    steps: StepIds;
  }>;
}["workflow"];

/** The chain of steps. Inside a container the same class is the chain that a branch extends. */
export class WorkflowChain<
  out Input,
  out Data,
  out Id extends string,
  in Accepts,
  StepIds extends string,
  out Resume,
  out Result,
> implements WorkflowDefinition
{
  declare readonly "~input"?: (input: Accepts) => void;
  declare readonly "~output"?: () => Data;
  declare readonly "~result"?: () => Result;
  declare readonly "~resume"?: () => Resume;
  /** A method, so that a chain that grows in a loop keeps its type. */
  "~stepIds"?(id: StepIds): void;
  readonly id: Id;
  readonly name: string;
  readonly purpose: string;
  readonly inputSchema: Schema;
  readonly resultSchema: Schema | undefined;
  readonly suspendSchema: Schema | undefined;
  readonly resumeSchema: Schema | undefined;
  readonly timeout: number | undefined;
  readonly steps: readonly Step[];
  readonly hooks: WorkflowHooks | undefined;
  readonly tags: readonly string[] | undefined;
  readonly search: WorkflowSearch | undefined;
  readonly schedules: WorkflowDefinition["schedules"];
  readonly on: WorkflowDefinition["on"];
  readonly cancelOn: WorkflowDefinition["cancelOn"];

  constructor(definition: WorkflowDefinition & { readonly id: Id }) {
    this.id = definition.id;
    this.name = definition.name;
    this.purpose = definition.purpose;
    this.inputSchema = definition.inputSchema;
    this.resultSchema = definition.resultSchema;
    this.suspendSchema = definition.suspendSchema;
    this.resumeSchema = definition.resumeSchema;
    this.timeout = definition.timeout;
    this.steps = definition.steps;
    this.hooks = definition.hooks;
    this.tags = definition.tags;
    this.search = definition.search;
    this.schedules = definition.schedules;
    this.on = definition.on;
    this.cancelOn = definition.cancelOn;
  }

  /** Runs a function and passes on its return value. */
  andThen<
    StepId extends string,
    Output,
    S extends Schema | undefined = undefined,
    R extends Schema | undefined = undefined,
  >(
    options: Named<StepId, ThenOptions<Data, Input, Output, S, R>>,
  ): Next<Input, BodyOutput<Output>, Id, Accepts, StepIds | StepId, Resume | ResumeOf<R>, Result> {
    return append(this, thenStep(options));
  }

  /** A side effect: the data passes unchanged, a failure does not stop the run. */
  andTap<
    StepId extends string,
    S extends Schema | undefined = undefined,
    R extends Schema | undefined = undefined,
  >(
    options: Named<StepId, TapOptions<Data, Input, S, R>>,
  ): Next<Input, Data, Id, Accepts, StepIds | StepId, Resume | ResumeOf<R>, Result> {
    return append(this, tapStep(options));
  }

  /** Runs its step when the condition holds; otherwise the data passes unchanged. */
  andWhen<StepId extends string, Output, R>(
    options: Named<StepId, WhenOptions<Data, Input, ResumableBranch<Data, Input, Output, R>>>,
  ): Next<Input, Data | Output, Id, Accepts, StepIds | StepId, Resume | R, Result> {
    return append(this, whenStep(options, openBranch));
  }

  /**
   * Runs all branches at once; the data is then the array of their outputs, in order. In branches made from a list,
   * `steps: list.map((key) => andThen({ … }))`, TypeScript does not know the `data`, which is then `unknown`: name its
   * type, `execute: ({ data }: { data: Order }) => …`.
   */
  andAll<StepId extends string, const Branches extends readonly Branch<Data, Input>[]>(
    options: Named<StepId, BranchesOptions<Branches>>,
  ): Next<
    Input,
    BranchOutputs<Branches>,
    Id,
    Accepts,
    StepIds | StepId,
    Resume | BranchResume<Branches[number]>,
    Result
  > {
    return append(this, allStep(options, openBranch));
  }

  /** Runs all branches at once and continues with the first that succeeds. For branches made from a list see `andAll`. */
  andRace<StepId extends string, const Branches extends readonly Branch<Data, Input>[]>(
    options: Named<StepId, BranchesOptions<Branches>>,
  ): Next<
    Input,
    BranchOutputs<Branches>[number],
    Id,
    Accepts,
    StepIds | StepId,
    Resume | BranchResume<Branches[number]>,
    Result
  > {
    return append(this, raceStep(options, openBranch));
  }

  /** Asks an agent; the data is then `{ text }`, or an object that fits `schema`. */
  andAgent<StepId extends string, S extends Schema = Schema>(
    options: Named<StepId, AgentStepOptions<Data, Input, S>>,
  ): Next<Input, AgentOutput<S>, Id, Accepts, StepIds | StepId, Resume, Result> {
    return append(this, agentStep(options));
  }

  /** Runs another workflow with the data as its input. */
  andWorkflow<StepId extends string, W extends WorkflowDefinition & HasInput<Data>>(
    options: Named<StepId, WorkflowStepOptions<W>>,
  ): Next<Input, InferResult<W>, Id, Accepts, StepIds | StepId, Resume | DeclaredResume<W>, Result> {
    return append(this, workflowStep(options));
  }

  /**
   * Runs its step for each item of an array; the data is then the array of the outputs, in order. With `items`, write
   * the step as a chain (`(item) => item.andThen({ … })`): TypeScript infers too late for `andThen({ … })` alone the type of
   * the items: `data` is then `unknown`.
   */
  andForEach<StepId extends string, Output, R>(
    options: Named<
      StepId,
      ForEachOptions<ResumableBranch<ItemOf<Data>, Input, Output, R>> & { readonly items?: never }
    >,
  ): Next<Input, Output[], Id, Accepts, StepIds | StepId, Resume | R, Result>;
  andForEach<StepId extends string, Item, Output, R>(
    options: Named<
      StepId,
      ForEachItemsOptions<Data, Input, Item, ResumableBranch<NoInfer<Json<Item>>, Input, Output, R>>
    >,
  ): Next<Input, Output[], Id, Accepts, StepIds | StepId, Resume | R, Result>;
  andForEach<StepId extends string, R>(
    options: Named<StepId, ForEachOptions<unknown>>,
  ): Next<Input, unknown[], Id, Accepts, StepIds | StepId, Resume | R, Result> {
    return append(this, forEachStep(options, openBranch));
  }

  /** Runs its step, then again with its own output while the condition holds. */
  andDoWhile<StepId extends string, Output extends Data, R>(
    options: Named<StepId, LoopOptions<Data, Input, ResumableBranch<Data, Input, Output, R>>>,
  ): Next<Input, Data, Id, Accepts, StepIds | StepId, Resume | R, Result> {
    return append(this, doWhileStep(options, openBranch));
  }

  /** Runs its step, then again with its own output until the condition holds. */
  andDoUntil<StepId extends string, Output extends Data, R>(
    options: Named<StepId, LoopOptions<Data, Input, ResumableBranch<Data, Input, Output, R>>>,
  ): Next<Input, Data, Id, Accepts, StepIds | StepId, Resume | R, Result> {
    return append(this, doUntilStep(options, openBranch));
  }

  /** Runs the first branch whose condition holds; when none does, the data passes unchanged. */
  andBranch<
    StepId extends string,
    const Cases extends readonly BranchCase<Data, Input, Branch<Data, Input>>[],
  >(
    options: Named<StepId, BranchOptions<Cases>>,
  ): Next<
    Input,
    Data | BranchOutput<Cases[number]["step"]>,
    Id,
    Accepts,
    StepIds | StepId,
    Resume | BranchResume<Cases[number]["step"]>,
    Result
  > {
    return append(this, branchStep(options, openBranch));
  }

  /** Waits for a while; the data passes unchanged. */
  andSleep<StepId extends string>(
    options: Named<StepId, SleepOptions<Data, Input>>,
  ): Next<Input, Data, Id, Accepts, StepIds | StepId, Resume, Result> {
    return append(this, sleepStep(options));
  }

  /** Waits until a date; the data passes unchanged. */
  andSleepUntil<StepId extends string>(
    options: Named<StepId, SleepUntilOptions<Data, Input>>,
  ): Next<Input, Data, Id, Accepts, StepIds | StepId, Resume, Result> {
    return append(this, sleepUntilStep(options));
  }

  /** Waits for an event; the data is then that of the event, or for several its name and data. */
  andWaitFor<StepId extends string, const E extends AnyEvent | readonly AnyEvent[], Timeout = never>(
    options: Named<StepId, WaitForOptions<Data, Input, E, Timeout>>,
  ): Next<Input, WaitOutput<E> | Json<Timeout>, Id, Accepts, StepIds | StepId, Resume, Result> {
    return append(this, waitForStep(options));
  }
}

/** The same workflow with one more step. The caller states the effect of the step on the types. */
function append<Input, Data, Id extends string, Accepts, StepIds extends string, Resume, Result>(
  workflow: WorkflowDefinition & { readonly id: Id },
  step: Step,
): Next<Input, Data, Id, Accepts, StepIds, Resume, Result> {
  const steps = appendStep(workflow.steps, step, `Workflow "${workflow.id}"`);
  return new WorkflowChain({ ...workflow, steps });
}

/** A branch with this one step. */
export function branchOf<Data, Input, Output, Resume>(
  step: Step,
): ResumableBranch<Data, Input, Output, Resume> {
  return (chain) => append<Input, Output, string, never, never, Resume, SameAsOutput>(chain, step);
}

/** The steps of a branch, in order. */
export function openBranch(branch: unknown, where: string): readonly Step[] {
  if (typeof branch !== "function") {
    const problem = "a branch must be a step such as andThen({ … }) or a function of a chain";
    throw new DefinitionError({ where, problem });
  }
  const chain: unknown = branch(new WorkflowChain({ ...emptyChain, id: where }));
  if (!(chain instanceof WorkflowChain)) {
    throw new DefinitionError({ where, problem: "a branch function must return the chain it was given" });
  }
  if (chain.steps.length === 0) throw new DefinitionError({ where, problem: "a branch has no steps" });
  return chain.steps;
}

// Only the steps of a branch's chain are ever read.
const emptyChain: WorkflowDefinition = {
  id: "",
  name: "",
  purpose: "",
  inputSchema: {
    "~standard": {
      version: 1,
      vendor: "andante",
      validate: (value) => ({ value }),
      jsonSchema: { input: () => ({}), output: () => ({}) },
    },
  },
  resultSchema: undefined,
  suspendSchema: undefined,
  resumeSchema: undefined,
  timeout: undefined,
  steps: [],
};
