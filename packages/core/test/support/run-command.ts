// The place of a step and the command to run its body, for tests of the parts that pass them on.
import { z } from "zod";
import type { Place, RunCommand } from "../../src/execution/interpreter/commands.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";

export const plainWorkflow = createWorkflow({ id: "w", input: z.unknown() }).andThen({
  id: "a",
  execute: () => 1,
});

/** The place of an andThen step at this path, with the data 1. */
export function placeOf(path: string, stepIndex = 0): Place {
  const [step] = plainWorkflow.steps;
  if (step === undefined) throw new Error("the workflow has no step");
  return { step, path, data: "1", scope: { workflow: plainWorkflow, input: "1", stepIndex } };
}

/** Runs the body at this path for the first time. */
export function runCommand(path: string, fields: Partial<RunCommand> = {}): RunCommand {
  return {
    ...{ kind: "run", place: placeOf(path.replace(/#.*/, "")), path, function: "execute", extra: undefined },
    ...{ resumeData: undefined, attempt: 1, waits: 0 },
    ...fields,
  };
}
