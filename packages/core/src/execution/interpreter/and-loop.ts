// andDoWhile and andDoUntil: round after round, each with the output of the one before.

import { iterationPath } from "../../values/step-path.ts";
import type { LoopStep } from "../../workflow/step.ts";
import { evaluate } from "./body.ts";
import { findRound, type Interpretation, type Place, type Sequence } from "./commands.ts";
import { container } from "./container.ts";

/** Continues as long as the condition returns `continueOn`. */
export function loop(
  place: Place,
  step: LoopStep,
  continueOn: "true" | "false",
  sequence: Sequence,
): Interpretation {
  return container(place, function* (first) {
    // Earlier rounds are not walked again: a loop of n suspensions would take quadratic time.
    const begun = yield* findRound(place);
    let data = begun === undefined ? first : begun.data;
    for (let round = begun?.number ?? 0; ; round++) {
      const path = iterationPath(place.path, round);
      const outcome = yield* sequence(step.steps, path, data, place.scope);
      if (outcome.kind !== "output") return outcome;
      data = outcome.value;
      const condition = yield* evaluate({ ...place, data }, "condition", { beside: path });
      if (condition.kind !== "output") return condition;
      if (condition.value !== continueOn) return outcome;
    }
  });
}
