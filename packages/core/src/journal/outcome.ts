// How a step, or a function beside its body, ended.
import type { JsonText } from "../values/json.ts";
import type { OutcomeEvent, StepUsage } from "./events.ts";
import type { Failure } from "./failure.ts";

export type Outcome =
  | {
      readonly kind: "output";
      readonly value: JsonText;
      /** Only where an agent was asked. */
      readonly usage?: StepUsage | undefined;
    }
  | { readonly kind: "skipped" }
  | { readonly kind: "error"; readonly error: Failure }
  /** It called `bail`: the innermost workflow ends with this value. */
  | { readonly kind: "bailed"; readonly value: JsonText };

/** The outcome that an event records. */
export function outcomeOf(event: OutcomeEvent): Outcome {
  switch (event.type) {
    case "step-complete":
      return { kind: "output", value: event.output, usage: event.usage };
    case "step-evaluated":
      return { kind: "output", value: event.output };
    case "step-skipped":
      return { kind: "skipped" };
    case "step-bailed":
      return { kind: "bailed", value: event.result };
    case "step-error":
      return { kind: "error", error: event.error };
  }
}
