// andDoWhile and andDoUntil: run their step repeatedly; the condition checks each output.
import type { KnownOptions } from "../../values/check-options.ts";
import type { DoUntilStep, DoWhileStep } from "../step.ts";
import type { FunctionContext } from "../step-context.ts";
import { checkFunction, type OpenBranch, type StepOptions, stepBase, stepOptions } from "./step-options.ts";

export interface LoopOptions<Data, Input, Branch> extends StepOptions {
  /** The steps of a round: they begin with the loop's data, then with the output of the round before. */
  readonly step: Branch;
  /** Checks the output of each round. Its return value is kept like a body's outcome. */
  condition(context: FunctionContext<Data, Input>): boolean | Promise<boolean>;
}

const knownOptions: KnownOptions<LoopOptions<unknown, unknown, unknown>> = {
  ...stepOptions,
  step: true,
  condition: true,
};

export function doWhileStep(options: LoopOptions<unknown, unknown, unknown>, open: OpenBranch): DoWhileStep {
  return { ...loop(options, "andDoWhile", open), type: "andDoWhile" };
}

export function doUntilStep(options: LoopOptions<unknown, unknown, unknown>, open: OpenBranch): DoUntilStep {
  return { ...loop(options, "andDoUntil", open), type: "andDoUntil" };
}

function loop(options: LoopOptions<unknown, unknown, unknown>, kind: string, open: OpenBranch) {
  const base = stepBase(options, kind, knownOptions);
  const where = `${kind} "${base.id}"`;
  checkFunction(options.condition, "condition", where);
  const steps = open(options.step, where);
  return { ...base, steps, condition: options.condition };
}
