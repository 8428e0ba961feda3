// Two workflows: one that runs straight through, and one that waits for a person.
import { type Agent, andThen, createWorkflow } from "@andante/core";
import { z } from "zod";

/** Measures a text in two branches at once. */
export const measure = createWorkflow({
  id: "measure",
  name: "Measure a text",
  purpose: "Counts words and characters side by side",
  input: z.object({ text: z.string().min(1) }),
})
  .andAll({
    id: "count",
    steps: [
      andThen({ id: "words", execute: ({ data }) => data.text.split(/\s+/).length }),
      andThen({ id: "characters", execute: ({ data }) => data.text.length }),
    ],
  })
  .andThen({ id: "report", execute: ({ data: [words, characters] }) => ({ words, characters }) });

/** Drafts a post, asks a person, and publishes it when approved. */
export function publishWith(writer: Agent) {
  return createWorkflow({
    id: "publish",
    name: "Publish a post",
    purpose: "Drafts a post, asks a person, publishes what was approved",
    input: z.object({ topic: z.string() }),
    result: z.object({ text: z.string(), approved: z.boolean() }),
  })
    .andAgent({ id: "draft", agent: writer, prompt: ({ data }) => `Write about ${data.topic}` })
    .andThen({
      id: "approve",
      purpose: "Waits until a person has decided",
      resumeSchema: z.object({ approved: z.boolean() }),
      execute: ({ data, suspend, resumeData }) =>
        resumeData ? { ...data, ...resumeData } : suspend("Waiting for approval", data),
    });
}
