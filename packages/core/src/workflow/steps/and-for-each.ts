// andForEach: runs its step once for each item of an array and returns the outputs as an array, in order.
import { DefinitionError } from "../../errors/index.ts";
import type { KnownOptions } from "../../values/check-options.ts";
import type { ForEachStep } from "../step.ts";
import type { FunctionContext } from "../step-context.ts";
import { checkFunction, type OpenBranch, type StepOptions, stepBase, stepOptions } from "./step-options.ts";

/** The array is the data itself. */
export interface ForEachOptions<Branch> extends StepOptions {
  /** The steps that run for each item, with the item as their data. */
  readonly step: Branch;
  /** How many items may run at once. Default: 1, one after the other. */
  readonly concurrency?: number;
}

/** The array is made of the data. */
export interface ForEachItemsOptions<Data, Input, Item, Branch> extends ForEachOptions<Branch> {
  /** Makes the array. Its return value is kept like a body's outcome. Default: the data, which then must be an array. */
  items(context: FunctionContext<Data, Input>): readonly Item[] | Promise<readonly Item[]>;
}

/** The items of an array that is the data itself. */
export type ItemOf<Data> = Data extends readonly (infer Item)[] ? Item : never;

const knownOptions: KnownOptions<ForEachItemsOptions<unknown, unknown, unknown, unknown>> = {
  ...stepOptions,
  items: true,
  step: true,
  concurrency: true,
};

export function forEachStep(
  options: ForEachOptions<unknown> & Partial<ForEachItemsOptions<unknown, unknown, unknown, unknown>>,
  open: OpenBranch,
): ForEachStep {
  const base = stepBase(options, "andForEach", knownOptions);
  const where = `andForEach "${base.id}"`;
  const { items, concurrency = 1 } = options;
  if (items !== undefined) checkFunction(items, "items", where);
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new DefinitionError({ where, problem: "concurrency must be a whole number of at least 1" });
  }
  const steps = open(options.step, where);
  return { ...base, type: "andForEach", items, steps, concurrency };
}
