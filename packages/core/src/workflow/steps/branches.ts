// The common part of andAll and andRace: several branches that run at once.
import { DefinitionError } from "../../errors/index.ts";
import type { KnownOptions } from "../../values/check-options.ts";
import type { Step } from "../step.ts";
import {
  checkSiblings,
  type OpenBranch,
  type OuterOptionNames,
  type OuterOptions,
  stepOptions,
} from "./step-options.ts";

export interface BranchesOptions<Branches extends readonly unknown[]> extends OuterOptions {
  /** Steps or chains; their ids are unique within the container. */
  readonly steps: Branches;
}

/** The names of the options; `retry` and `timeout` are refused with a reason. */
export const branchesOptions: KnownOptions<BranchesOptions<readonly unknown[]>> & OuterOptionNames = {
  ...stepOptions,
  steps: true,
};

/** Opens the branches of a container that runs several at once. */
export function openBranches(
  options: BranchesOptions<readonly unknown[]>,
  kind: string,
  open: OpenBranch,
): readonly (readonly Step[])[] {
  const where = `${kind} "${options.id}"`;
  if (!Array.isArray(options.steps) || options.steps.length === 0) {
    throw new DefinitionError({ where, problem: "steps must be an array with at least one branch" });
  }
  const branches = options.steps.map((branch) => open(branch, where));
  checkSiblings(branches.flat(), where);
  return branches;
}
