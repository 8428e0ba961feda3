// andAll: all branches at once; their outputs as an array in order, or the first failure.

import type { Outcome } from "../../journal/outcome.ts";
import type { AllStep } from "../../workflow/step.ts";
import { type Interpretation, type Joined, type Place, type Sequence, together } from "./commands.ts";
import { container } from "./container.ts";

export function all(place: Place, step: AllStep, sequence: Sequence): Interpretation {
  return container(place, function* (data) {
    const { branches } = step;
    const count = branches.length;
    const open = (index: number) => sequence(branches[index] ?? [], place.path, data, place.scope);
    return outputsOf(yield* together({ kind: "all", count, limit: count, open }));
  });
}

/** The outputs of branches as one array; or the outcome that ended them before. */
export function outputsOf({ outcomes, decisive }: Joined): Outcome {
  if (decisive.kind === "error" || decisive.kind === "bailed") return decisive;
  const outputs = outcomes.map(
    (outcome) => (outcome?.kind === "output" ? outcome.value : undefined) ?? "null",
  );
  return { kind: "output", value: `[${outputs.join(",")}]` };
}
