// A step's body: runs until it has an outcome, however often it suspends on the way.
import type { JsonText } from "../../workflow/json.ts";
import { type Interpretation, type Place, type RunCommand, run, waitForAnswer } from "./commands.ts";

export function* body(
  place: Place,
  name: RunCommand["function"] = "execute",
  extra?: JsonText,
): Interpretation {
  let answer: string | undefined;
  for (;;) {
    const reply = yield* run(place, name, { extra, answer });
    if (reply.kind !== "suspended") return reply;
    answer = yield* waitForAnswer(place);
  }
}
