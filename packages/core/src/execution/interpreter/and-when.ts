// andWhen: the condition decides whether the step inside runs or is skipped.
import type { WhenStep } from "../../workflow/step.ts";
import { evaluate } from "./body.ts";
import type { Interpretation, Place, Sequence } from "./commands.ts";
import { container } from "./container.ts";

export function when(place: Place, step: WhenStep, sequence: Sequence): Interpretation {
  return container(place, function* (data) {
    const condition = yield* evaluate({ ...place, data }, "condition");
    if (condition.kind === "error") return condition;
    if (condition.kind !== "output" || condition.value !== "true") return { kind: "skipped" };
    return yield* sequence(step.steps, place.path, data, place.scope);
  });
}
