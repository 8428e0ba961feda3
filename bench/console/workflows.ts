// The workflows of this benchmark: many short runs, a long chain of steps, and one run with a long journal.
import { andThen, createWorkflow } from "@andante/core";
import { z } from "zod";

export const one = createWorkflow({ id: "one", input: z.object({ n: z.number() }) }).andThen({
  id: "add",
  execute: ({ data }) => data.n + 1,
});

const first = createWorkflow({ id: "wide", input: z.unknown() }).andThen({ id: "step-1", execute: () => 1 });

/** Two hundred steps in a row. */
export const wide = Array.from({ length: 199 }, (_, index) => index + 2).reduce(
  (chain, number) => chain.andThen({ id: `step-${number}`, execute: () => 1 }),
  first,
);

/** Two events for each item. */
export const journal = createWorkflow({ id: "journal", input: z.object({ items: z.number() }) })
  .andThen({ id: "items", execute: ({ data }) => Array.from({ length: data.items }, (_, index) => index) })
  .andForEach({ id: "each", concurrency: 50, step: andThen({ id: "work", execute: () => 1 }) });
