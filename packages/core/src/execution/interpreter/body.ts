// A user function: runs until it has an outcome, however often it suspends or fails and is tried again on the way.
import { DeadlineError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import type { JsonText } from "../../values/json.ts";
import { functionPath } from "../../values/step-path.ts";
import {
  type Interpretation,
  leave,
  type Place,
  type RunCommand,
  run,
  until,
  waitForResume,
} from "./commands.ts";

/** The step's own body. */
export function body(
  place: Place,
  name: RunCommand["function"] = "execute",
  extra?: JsonText,
): Interpretation {
  return attempts(place, name, place.path, extra);
}

/** A function beside the body, such as `condition`; in a loop, beside one of its rounds. */
export function evaluate(
  place: Place,
  name: Exclude<RunCommand["function"], "execute" | "agent">,
  options: { readonly beside?: string; readonly extra?: JsonText } = {},
): Interpretation {
  return attempts(place, name, functionPath(options.beside ?? place.path, name), options.extra);
}

function* attempts(
  place: Place,
  name: RunCommand["function"],
  path: string,
  extra: JsonText,
): Interpretation {
  let resumeData: string | undefined;
  let attempt = 1;
  let waits = 0;
  for (;;) {
    const reply = yield* run(place, name, { path, extra, resumeData, attempt, waits });
    if (reply.kind === "wait") {
      yield* until(place, path, reply.at);
      waits = reply.waits;
    } else if (reply.kind === "retry") {
      yield* until(place, path, reply.at);
      attempt = reply.attempt;
    } else if (reply.kind === "calls-suspended") {
      yield { ...reply, kind: "await-calls" };
    } else if (reply.kind === "suspended") {
      const resumption = yield* waitForResume(place);
      if (resumption.expired) {
        const error = toFailure(new DeadlineError({ path }), path, attempt);
        return yield* leave(place, { kind: "error", error });
      }
      resumeData = resumption.data;
    } else return reply;
  }
}
