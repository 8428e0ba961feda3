// andBranch: runs the first branch whose condition holds; when none does, the data passes unchanged.

import { DefinitionError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import type { BranchStep } from "../step.ts";
import type { FunctionContext } from "../step-context.ts";
import {
  checkFunction,
  checkSiblings,
  type OpenBranch,
  type StepOptions,
  stepBase,
  stepOptions,
} from "./step-options.ts";

export interface BranchCase<Data, Input, Branch> {
  /** Decides, unless a branch before was taken. Its return value is kept like a body's outcome. */
  condition(context: FunctionContext<Data, Input>): boolean | Promise<boolean>;
  /** The steps that run when it holds. */
  readonly step: Branch;
}

export interface BranchOptions<Cases extends readonly unknown[]> extends StepOptions {
  /** Tried in order; the ids of their steps are unique within the container. */
  readonly branches: Cases;
}

const knownCaseOptions: KnownOptions<BranchCase<unknown, unknown, unknown>> = { condition: true, step: true };
const knownOptions: KnownOptions<BranchOptions<readonly unknown[]>> = { ...stepOptions, branches: true };

export function branchStep(
  options: BranchOptions<readonly BranchCase<unknown, unknown, unknown>[]>,
  open: OpenBranch,
): BranchStep {
  const base = stepBase(options, "andBranch", knownOptions);
  const where = `andBranch "${base.id}"`;
  if (!Array.isArray(options.branches) || options.branches.length === 0) {
    throw new DefinitionError({ where, problem: "branches must be an array with at least one branch" });
  }
  const cases = options.branches.map((branch: BranchCase<unknown, unknown, unknown>, index) => {
    checkKnownOptions(`${where}, branches[${index}]`, branch, knownCaseOptions);
    checkFunction(branch?.condition, `branches[${index}].condition`, where);
    return { condition: branch.condition, steps: open(branch.step, where) };
  });
  checkSiblings(
    cases.flatMap(({ steps }) => steps),
    where,
  );
  return { ...base, type: "andBranch", cases };
}
