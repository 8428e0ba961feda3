// andTap: whatever becomes of the body, the data passes unchanged.
import { body } from "./body.ts";
import type { Interpretation, Place } from "./commands.ts";

export function* tap(place: Place): Interpretation {
  yield* body(place);
  return { kind: "output", value: place.data };
}
