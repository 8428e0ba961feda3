// andThen: the body's outcome is the step's.
import { body } from "./body.ts";
import type { Interpretation, Place } from "./commands.ts";

export const thenBody = (place: Place): Interpretation => body(place);
