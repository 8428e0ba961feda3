// andWorkflow: the child's steps run under this path, with the child's schemas and its own input.
import type { WorkflowStep } from "../../workflow/step.ts";
import { check, type Interpretation, type Place, type Sequence } from "./commands.ts";
import { container } from "./container.ts";

export function childWorkflow(place: Place, step: WorkflowStep, sequence: Sequence): Interpretation {
  const { workflow } = step;
  return container(place, function* (data) {
    const input = yield* check(workflow.inputSchema, data, place.path, `input of workflow ${workflow.id}`);
    if (input.kind === "error") return input;
    const scope = { workflow, input: input.value, stepIndex: place.scope.stepIndex };
    const outcome = yield* sequence(workflow.steps, place.path, input.value, scope);
    if (outcome.kind !== "output" && outcome.kind !== "bailed") return outcome;
    return yield* check(
      workflow.resultSchema,
      outcome.value,
      place.path,
      `result of workflow ${workflow.id}`,
    );
  });
}
