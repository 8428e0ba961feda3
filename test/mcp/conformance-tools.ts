// The tools that the official conformance suite calls, as far as workflows can be them.
import { andThen, createWorkflow, PublicError, type StepContext } from "@andante/core";
import { z } from "zod";

const none = z.object({});
const answer = z.object({ confirm: z.boolean() });

const greet = createWorkflow({ id: "greet", input: z.object({ name: z.string() }) }).andThen({
  id: "say",
  execute: ({ data }) => `Hello, ${data.name}!`,
});

const slowCompute = createWorkflow({
  id: "slow_compute",
  input: z.object({ seconds: z.number(), label: z.string().optional() }),
})
  .andSleep({ id: "work", duration: ({ data }) => Math.max(1, data.seconds * 1000) })
  .andThen({ id: "done", execute: ({ data }) => `Computed ${data.label ?? ""}` });

const failingJob = createWorkflow({ id: "failing_job", input: none })
  .andSleep({ id: "work", duration: 1000 })
  .andThen({
    id: "fail",
    execute: () => {
      throw new PublicError("The job has failed");
    },
  });

const confirmDelete = createWorkflow({ id: "confirm_delete", input: z.looseObject({}) }).andThen({
  id: "confirm",
  resumeSchema: answer,
  execute: ({ suspend, resumeData }) => (resumeData ? "deleted" : suspend("Delete it?")),
});

const ask = (id: string) =>
  andThen({
    id,
    resumeSchema: z.looseObject({}),
    execute: ({ suspend, resumeData }: StepContext) => resumeData ?? suspend(`${id}?`),
  });
const multiInput = createWorkflow({ id: "multi_input", input: z.looseObject({}) }).andAll({
  id: "both",
  steps: [ask("first"), ask("second")],
});

/** A question with one field, whose answer is in the result. */
const question = (id: string, field: string) =>
  createWorkflow({ id, input: z.looseObject({}) }).andThen({
    id: "ask",
    resumeSchema: z.object({ [field]: z.string() }),
    execute: ({ suspend, resumeData }) => (resumeData ? resumeData : suspend("Who is it?")),
  });

const simpleText = createWorkflow({ id: "test_simple_text", input: none }).andThen({
  id: "say",
  execute: () => "This is a simple text response for testing.",
});

const errorHandling = createWorkflow({ id: "test_error_handling", input: none }).andThen({
  id: "fail",
  execute: () => {
    throw new PublicError("This tool intentionally returns an error for testing");
  },
});

const progress = createWorkflow({ id: "test_tool_with_progress", input: none })
  .andSleep({ id: "first", duration: 200 })
  .andSleep({ id: "second", duration: 200 })
  .andThen({ id: "done", execute: () => "done" });

export const workflows = {
  greet,
  slowCompute,
  failingJob,
  confirmDelete,
  multiInput,
  simpleText,
  errorHandling,
  progress,
  elicitation: question("test_input_required_result_elicitation", "name"),
  state: question("test_input_required_result_request_state", "name"),
  tampered: question("test_input_required_result_tampered_state", "name"),
};
