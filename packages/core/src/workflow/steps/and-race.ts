// andRace: runs all branches at once and continues with the first that succeeds.

import type { RaceStep } from "../step.ts";
import { type BranchesOptions, branchesOptions, openBranches } from "./branches.ts";
import { type OpenBranch, outerBase } from "./step-options.ts";

export function raceStep(options: BranchesOptions<readonly unknown[]>, open: OpenBranch): RaceStep {
  return {
    ...outerBase(options, "andRace", branchesOptions),
    type: "andRace",
    branches: openBranches(options, "andRace", open),
  };
}
