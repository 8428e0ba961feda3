// andAll and andRace: run all branches at once; the outputs of all in order, or that of the first that succeeds.
import { DefinitionError } from "../../errors/index.ts";
import type { KnownOptions } from "../../values/check-options.ts";
import type { AllStep, RaceStep, Step } from "../step.ts";
import {
  checkSiblings,
  type OpenBranch,
  type OuterOptionNames,
  type OuterOptions,
  outerBase,
  stepOptions,
} from "./step-options.ts";

export interface BranchesOptions<Branches extends readonly unknown[]> extends OuterOptions {
  /** Steps or chains; their ids are unique within the container. */
  readonly steps: Branches;
}

/** `retry` and `timeout` are refused with a reason. */
const knownOptions: KnownOptions<BranchesOptions<readonly unknown[]>> & OuterOptionNames = {
  ...stepOptions,
  steps: true,
};

export function allStep(options: BranchesOptions<readonly unknown[]>, open: OpenBranch): AllStep {
  const base = outerBase(options, "andAll", knownOptions);
  return { ...base, type: "andAll", branches: openBranches(options, "andAll", open) };
}

export function raceStep(options: BranchesOptions<readonly unknown[]>, open: OpenBranch): RaceStep {
  const base = outerBase(options, "andRace", knownOptions);
  return { ...base, type: "andRace", branches: openBranches(options, "andRace", open) };
}

function openBranches(
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
