// andAll: all branches at once; their outputs as an array in order, or the first failure.
import { constants } from "node:buffer";
import { OutputLimitError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import type { AllStep } from "../../workflow/step.ts";
import {
  firstOf,
  type Interpretation,
  type Joined,
  type Place,
  type Sequence,
  together,
} from "./commands.ts";
import { container } from "./container.ts";

export function all(place: Place, step: AllStep, sequence: Sequence): Interpretation {
  return container(place, function* (data) {
    const { branches } = step;
    const count = branches.length;
    const open = (index: number) => sequence(branches[index] ?? [], place.path, data, place.scope);
    const firstPath = (index: number) => firstOf(branches[index] ?? [], place.path);
    return outputsOf(yield* together({ kind: "all", count, limit: count, open, firstPath }), place.path);
  });
}

/** The outputs of branches as one array; or the outcome that ended them before. */
export function outputsOf({ outcomes, decisive }: Joined, path: string): Outcome {
  if (decisive.kind === "error" || decisive.kind === "bailed") return decisive;
  const outputs = outcomes.map(
    (outcome) => (outcome?.kind === "output" ? outcome.value : undefined) ?? "null",
  );
  const size = outputs.reduce((total, output) => total + output.length + 1, 1);
  if (size > constants.MAX_STRING_LENGTH) return tooLong(size, path);
  return { kind: "output", value: `[${outputs.join(",")}]` };
}

/** No string can hold it, under any limits. */
function tooLong(size: number, path: string): Outcome {
  const limit = constants.MAX_STRING_LENGTH;
  const error = new OutputLimitError({
    subject: `Output of step ${path}`,
    size,
    limit,
    option: "a string of Node",
  });
  return { kind: "error", error: toFailure(error, path) };
}
