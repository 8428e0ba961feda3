// andBranch: the conditions in order; the first that holds decides which branch runs.

import { iterationPath } from "../../values/step-path.ts";
import type { BranchStep } from "../../workflow/step.ts";
import { evaluate } from "./body.ts";
import type { Interpretation, Place, Sequence } from "./commands.ts";
import { container } from "./container.ts";

export function branch(place: Place, step: BranchStep, sequence: Sequence): Interpretation {
  return container(place, function* (data) {
    for (const [index, { steps }] of step.cases.entries()) {
      const beside = iterationPath(place.path, index);
      const condition = yield* evaluate({ ...place, data }, "condition", { beside, extra: String(index) });
      if (condition.kind !== "output") return condition;
      if (condition.value === "true") return yield* sequence(steps, place.path, data, place.scope);
    }
    return { kind: "skipped" };
  });
}
