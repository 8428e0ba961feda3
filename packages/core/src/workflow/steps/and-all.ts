// andAll: runs all branches at once and returns their outputs as an array, in order.

import type { AllStep } from "../step.ts";
import { type BranchesOptions, branchesOptions, openBranches } from "./branches.ts";
import { type OpenBranch, outerBase } from "./step-options.ts";

export function allStep(options: BranchesOptions<readonly unknown[]>, open: OpenBranch): AllStep {
  return {
    ...outerBase(options, "andAll", branchesOptions),
    type: "andAll",
    branches: openBranches(options, "andAll", open),
  };
}
