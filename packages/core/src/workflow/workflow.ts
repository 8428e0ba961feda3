// The chain builder: immutable, and the types flow from each step to the next.
import { DefinitionError } from "../errors/index.ts";
import type { Json } from "../values/json.ts";
import type { Schema } from "../values/schema.ts";
import type { WorkflowHooks } from "./hooks.ts";
import type { Step, StepType, WorkflowDefinition } from "./step.ts";
import { type AgentOutput, type AgentStepOptions, agentStep } from "./steps/and-agent.ts";
import { allStep } from "./steps/and-all.ts";
import { type BranchCase, type BranchOptions, branchStep } from "./steps/and-branch.ts";
import {
  type ForEachItemsOptions,
  type ForEachOptions,
  forEachStep,
  type ItemOf,
} from "./steps/and-for-each.ts";
import { doUntilStep, doWhileStep, type LoopOptions } from "./steps/and-loop.ts";
import { raceStep } from "./steps/and-race.ts";
import { type SleepOptions, type SleepUntilOptions, sleepStep, sleepUntilStep } from "./steps/and-sleep.ts";
import { type TapOptions, tapStep } from "./steps/and-tap.ts";
import { type ThenOptions, thenStep } from "./steps/and-then.ts";
import { type WhenOptions, whenStep } from "./steps/and-when.ts";
import { type WorkflowStepOptions, workflowStep } from "./steps/and-workflow.ts";
import type { BranchesOptions } from "./steps/branches.ts";
import { type BodyOutput, checkSiblings } from "./steps/step-options.ts";

/** Carries, for the compiler only, what a step or a chain gives. */
export interface Gives<Output> {
  readonly "~gives"?: () => Output;
}

/** Carries, for the compiler only, what a step or a workflow takes. */
export interface Takes<Data> {
  readonly "~takes"?: (data: Data) => void;
}

/** A workflow that can stand in a chain whose data it takes. */
export type ChildWorkflow<Data, Output> = WorkflowDefinition & Takes<Data> & Gives<Output>;

/** A step that remembers, for the compiler only, what it takes and gives. */
export interface TypedStep<Data, Output> extends Takes<Data>, Gives<Output> {
  readonly id: string;
  readonly type: StepType;
}

/** A branch of a container: one step made by a free function such as `andThen({ … })`, or a chain of several. */
export type Branch<Data, Input, Output = unknown> =
  | TypedStep<Data, Output>
  | ((chain: Workflow<Input, Data>) => Gives<Output>);

/** What a branch gives. */
export type BranchOutput<B> = B extends (chain: never) => Gives<infer Output>
  ? Output
  : B extends Gives<infer Output>
    ? Output
    : never;

/** The outputs of the branches as a tuple. */
export type BranchOutputs<Branches extends readonly unknown[]> = {
  -readonly [K in keyof Branches]: BranchOutput<Branches[K]>;
};

/**
 * A workflow: an ordered chain of steps with schemas. Each `andX` returns a new one and leaves this as it was.
 * Inside a container the same class is the chain that a branch function extends.
 *
 * @typeParam Input - the workflow's input as its steps see it
 * @typeParam Data - what the last step so far gives
 * @typeParam Accepts - what a caller may pass as input
 */
export class Workflow<Input = unknown, Data = unknown, Accepts = Input> implements WorkflowDefinition {
  declare readonly "~takes"?: (input: Accepts) => void;
  declare readonly "~gives"?: () => Data;
  readonly id: string;
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

  constructor(definition: WorkflowDefinition) {
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
  }

  /** Runs a function and passes on what it returns. */
  andThen<Output, S extends Schema = Schema, R extends Schema = Schema>(
    options: ThenOptions<Data, Input, Output, S, R>,
  ): Workflow<Input, BodyOutput<Output>, Accepts> {
    return this.#with(thenStep(options));
  }

  /** A side effect: the data passes unchanged, a failure does not stop the run. */
  andTap<S extends Schema = Schema, R extends Schema = Schema>(
    options: TapOptions<Data, Input, S, R>,
  ): Workflow<Input, Data, Accepts> {
    return this.#with(tapStep(options));
  }

  /** Runs its step when the condition holds; otherwise the data passes unchanged. */
  andWhen<Output>(
    options: WhenOptions<Data, Input, Branch<Data, Input, Output>>,
  ): Workflow<Input, Data | Output, Accepts> {
    return this.#with(whenStep(options, openBranch));
  }

  /** Runs all branches at once; the data is then the array of their outputs, in order. */
  andAll<const Branches extends readonly Branch<Data, Input>[]>(
    options: BranchesOptions<Branches>,
  ): Workflow<Input, BranchOutputs<Branches>, Accepts> {
    return this.#with(allStep(options, openBranch));
  }

  /** Runs all branches at once and goes on with the first that succeeds. */
  andRace<const Branches extends readonly Branch<Data, Input>[]>(
    options: BranchesOptions<Branches>,
  ): Workflow<Input, BranchOutputs<Branches>[number], Accepts> {
    return this.#with(raceStep(options, openBranch));
  }

  /** Asks an agent; the data is then `{ text }`, or an object that fits `schema`. */
  andAgent<S extends Schema = Schema>(
    options: AgentStepOptions<Data, Input, S>,
  ): Workflow<Input, AgentOutput<S>, Accepts> {
    return this.#with(agentStep(options));
  }

  /** Runs another workflow with the data as its input. */
  andWorkflow<Output>(
    options: WorkflowStepOptions<ChildWorkflow<Data, Output>>,
  ): Workflow<Input, Output, Accepts> {
    return this.#with(workflowStep(options));
  }

  /** Runs its step for each item of a list; the data is then the list of the outputs, in order. */
  andForEach<Output>(
    options: ForEachOptions<Branch<ItemOf<Data>, Input, Output>> & { readonly items?: never },
  ): Workflow<Input, Output[], Accepts>;
  andForEach<Item, Output>(
    options: ForEachItemsOptions<Data, Input, Item, Branch<Json<Item>, Input, Output>>,
  ): Workflow<Input, Output[], Accepts>;
  andForEach(options: ForEachOptions<unknown>): Workflow<Input, unknown[], Accepts> {
    return this.#with(forEachStep(options, openBranch));
  }

  /** Runs its step, then again with its own output while the condition holds. */
  andDoWhile(options: LoopOptions<Data, Input, Branch<Data, Input, Data>>): Workflow<Input, Data, Accepts> {
    return this.#with(doWhileStep(options, openBranch));
  }

  /** Runs its step, then again with its own output until the condition holds. */
  andDoUntil(options: LoopOptions<Data, Input, Branch<Data, Input, Data>>): Workflow<Input, Data, Accepts> {
    return this.#with(doUntilStep(options, openBranch));
  }

  /** Runs the first branch whose condition holds; when none does, the data passes unchanged. */
  andBranch<const Cases extends readonly BranchCase<Data, Input, Branch<Data, Input>>[]>(
    options: BranchOptions<Cases>,
  ): Workflow<Input, Data | BranchOutput<Cases[number]["step"]>, Accepts> {
    return this.#with(branchStep(options, openBranch));
  }

  /** Waits for a while; the data passes unchanged. */
  andSleep(options: SleepOptions<Data, Input>): Workflow<Input, Data, Accepts> {
    return this.#with(sleepStep(options));
  }

  /** Waits for a moment; the data passes unchanged. */
  andSleepUntil(options: SleepUntilOptions<Data, Input>): Workflow<Input, Data, Accepts> {
    return this.#with(sleepUntilStep(options));
  }

  #with<NewData>(step: Step): Workflow<Input, NewData, Accepts> {
    const steps = [...this.steps, step];
    checkSiblings(steps, `Workflow "${this.id}"`);
    return new Workflow({ ...this, steps });
  }
}

/** The steps of a branch, in order. */
export function openBranch(branch: unknown, where: string): readonly Step[] {
  if (typeof branch === "function") {
    const chain: unknown = branch(new Workflow({ ...emptyChain, id: where }));
    if (!(chain instanceof Workflow)) {
      throw new DefinitionError({ where, problem: "a branch function must return the chain it was given" });
    }
    if (chain.steps.length === 0) throw new DefinitionError({ where, problem: "a branch has no steps" });
    return chain.steps;
  }
  if (isStep(branch)) return [branch];
  throw new DefinitionError({
    where,
    problem: "a branch must be a step such as andThen({ … }) or a function of a chain",
  });
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

function isStep(value: unknown): value is Step {
  return typeof value === "object" && value !== null && "type" in value && "id" in value;
}
