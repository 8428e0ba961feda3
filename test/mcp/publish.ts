// The workflow of these tests: it waits for a person.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

export const publish = createWorkflow({ id: "publish", input: z.object({ text: z.string() }) })
  .andThen({ id: "draft", execute: ({ data }) => data })
  .andThen({
    id: "approve",
    resumeSchema: z.object({ approved: z.boolean() }),
    execute: ({ data, suspend, resumeData }) =>
      resumeData ? { ...data, ...resumeData } : suspend("Publish this?", data),
  })
  .andThen({ id: "finish", execute: ({ data }) => ({ ...data, published: true }) });
