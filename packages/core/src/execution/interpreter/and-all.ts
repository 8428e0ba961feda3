// andAll: all branches at once; their outputs as an array in order, or the first failure.
import type { AllStep } from "../../workflow/step.ts";
import { type Interpretation, type Place, type Sequence, together } from "./commands.ts";
import { container } from "./container.ts";

export function all(place: Place, step: AllStep, sequence: Sequence): Interpretation {
  return container(place, function* (data) {
    const branches = step.branches.map((steps) => sequence(steps, place.path, data, place.scope));
    const { outcomes, decisive } = yield* together("all", place, branches);
    if (decisive.kind === "error") return decisive;
    const outputs = outcomes.map(
      (outcome) => (outcome?.kind === "output" ? outcome.value : undefined) ?? "null",
    );
    return { kind: "output", value: `[${outputs.join(",")}]` };
  });
}
