// andTap: the data passes unchanged after any outcome of the body; only a bail is followed.
import { body } from "./body.ts";
import type { Interpretation, Place } from "./commands.ts";

export function* tap(place: Place): Interpretation {
  const outcome = yield* body(place);
  return outcome.kind === "bailed" ? outcome : { kind: "output", value: place.data };
}
