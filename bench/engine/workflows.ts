// The workflows that the benchmarks run.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

const input = z.object({ n: z.number() });

/** One trivial step. */
export const one = createWorkflow({ id: "one", input }).andThen({
  id: "one",
  execute: ({ data }) => ({ n: data.n + 1 }),
});

/** Three trivial steps in a row. */
export const three = createWorkflow({ id: "three", input })
  .andThen({ id: "one", execute: ({ data }) => data.n + 1 })
  .andThen({ id: "two", execute: ({ data }) => data + 1 })
  .andThen({ id: "three", execute: ({ data }) => data + 1 });

/** One step that waits for an answer. */
export const gate = createWorkflow({ id: "gate", input }).andThen({
  id: "wait",
  execute: ({ data, suspend, resumeData }) =>
    resumeData === undefined ? suspend("waiting") : { ...data, resumeData },
});
