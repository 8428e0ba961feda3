// andWorkflow: the child's steps run under this path, with the child's schemas, its own input and its timeout.
import { StepTimeoutError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import type { JsonText } from "../../values/json.ts";
import type { WorkflowStep } from "../../workflow/step.ts";
import { check, type Interpretation, limit, type Place, type Sequence, together, until } from "./commands.ts";
import { container } from "./container.ts";

export function childWorkflow(place: Place, step: WorkflowStep, sequence: Sequence): Interpretation {
  const { workflow } = step;
  return container(place, function* (data) {
    const { path } = place;
    const input = yield* check(workflow.inputSchema, data, path, `input of workflow ${workflow.id}`, false);
    if (input.kind === "error") return input;
    const outcome = yield* withinTimeout(place, workflow.timeout, () =>
      sequence(workflow.steps, place.path, input.value, scopeOf(place, step, input.value)),
    );
    if (outcome.kind !== "output" && outcome.kind !== "bailed") return outcome;
    return yield* check(
      workflow.resultSchema,
      outcome.value,
      path,
      `result of workflow ${workflow.id}`,
      true,
    );
  });
}

function scopeOf({ scope }: Place, { workflow }: WorkflowStep, input: JsonText) {
  return { workflow, input, stepIndex: scope.stepIndex };
}

/** The outcome of the steps, or a failure when they take longer, waiting included, pauses not; counted from the step's start. */
function* withinTimeout(
  place: Place,
  timeout: number | undefined,
  steps: () => Interpretation,
): Interpretation {
  if (timeout === undefined) return yield* steps();
  const open = (branch: number) => (branch === 0 ? steps() : timeOut(place, timeout));
  const firstPath = () => undefined;
  return (yield* together({ kind: "first", count: 2, limit: 2, open, firstPath })).decisive;
}

function* timeOut(place: Place, timeout: number): Interpretation {
  const { path } = place;
  let reached: number;
  // A pause has moved the limit when it is later than the time that was waited for.
  do reached = yield* until(place, path, yield* limit(place, timeout));
  while (reached < (yield* limit(place, timeout)));
  return { kind: "error", error: toFailure(new StepTimeoutError({ path, timeout }), path) };
}
