// andWhen: runs its step when the condition holds; otherwise the data passes unchanged.
import type { KnownOptions } from "../../values/check-options.ts";
import type { WhenStep } from "../step.ts";
import type { FunctionContext } from "../step-context.ts";
import { checkFunction, type OpenBranch, type StepOptions, stepBase, stepOptions } from "./step-options.ts";

export interface WhenOptions<Data, Input, Branch> extends StepOptions {
  /** Decides. Its return value is kept like a body's outcome. */
  condition(context: FunctionContext<Data, Input>): boolean | Promise<boolean>;
  /** The steps that run when it holds. */
  readonly step: Branch;
}

const knownOptions: KnownOptions<WhenOptions<unknown, unknown, unknown>> = {
  ...stepOptions,
  condition: true,
  step: true,
};

export function whenStep(options: WhenOptions<unknown, unknown, unknown>, open: OpenBranch): WhenStep {
  const base = stepBase(options, "andWhen", knownOptions);
  const where = `andWhen "${base.id}"`;
  checkFunction(options.condition, "condition", where);
  const steps = open(options.step, where);
  return { ...base, type: "andWhen", steps, condition: options.condition };
}
