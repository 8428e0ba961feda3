// Shared by all containers: their own outcome comes first, their schemas hold, their end is recorded.
import type { JsonText } from "../../values/json.ts";
import { check, enter, type Interpretation, leave, type Place } from "./commands.ts";

/** Runs `inside` with the checked data, unless the container has ended in an earlier life of the execution. */
export function* container(place: Place, inside: (data: JsonText) => Interpretation): Interpretation {
  const known = yield* enter(place);
  if (known !== undefined) return known;
  const { step, path } = place;
  const input = yield* check(step.inputSchema, place.data, path, "input", false);
  if (input.kind === "error") return yield* leave(place, input);
  const outcome = yield* inside(input.value);
  if (outcome.kind !== "output") return yield* leave(place, outcome);
  return yield* leave(place, yield* check(step.outputSchema, outcome.value, path, "output", true));
}
