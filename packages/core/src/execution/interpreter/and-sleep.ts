// andSleep and andSleepUntil: a time is made known, then waited for; the data passes unchanged.
import { StepSchemaError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import { parseDuration } from "../../values/duration.ts";
import { fromJson } from "../../values/json.ts";
import type { SleepStep, SleepUntilStep } from "../../workflow/step.ts";
import { parseDate } from "../../workflow/steps/and-sleep.ts";
import { evaluate } from "./body.ts";
import { type Interpretation, type Place, until, type WakeTime } from "./commands.ts";
import { container } from "./container.ts";

export function sleep(place: Place, step: SleepStep | SleepUntilStep): Interpretation {
  return container(place, function* (data) {
    const at = yield* wakeTime({ ...place, data }, step);
    if (typeof at === "object" && "kind" in at) return at;
    yield* until(place, place.path, at);
    return { kind: "output", value: data };
  });
}

function* wakeTime(place: Place, step: SleepStep | SleepUntilStep) {
  if (step.type === "andSleep") {
    if (typeof step.duration === "number") return { after: step.duration };
    const outcome = yield* evaluate(place, "duration");
    return timeOf(place, "duration", outcome, (value) => ({ after: parseDuration(value, "duration") }));
  }
  if (typeof step.date === "number") return step.date;
  const outcome = yield* evaluate(place, "date");
  return timeOf(place, "date", outcome, parseDate);
}

/** The time that a function returned; an outcome when there is none to wait for. */
function timeOf(
  { path }: Place,
  what: string,
  outcome: Outcome,
  read: (value: unknown) => WakeTime | undefined,
): WakeTime | Outcome {
  if (outcome.kind !== "output") return outcome;
  const wrong = (detail: string): Outcome => {
    return { kind: "error", error: toFailure(new StepSchemaError({ path, subject: what, detail }), path) };
  };
  try {
    return read(fromJson(outcome.value)) ?? wrong("expected a date");
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}
