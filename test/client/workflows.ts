// The workflows of the client's tests.
import { createWorkflow, PublicError } from "@andante/core";
import { z } from "zod";
import { gates } from "../support/gates.ts";

/** Many events: each item of the list starts, emits an event and completes. */
export const count = createWorkflow({
  id: "count",
  input: z.object({ items: z.number(), door: z.string().optional() }),
})
  .andForEach({
    id: "each",
    items: ({ data }) => Array.from({ length: data.items }, (_, item) => item),
    step: (chain) =>
      chain.andThen({
        id: "one",
        execute: async ({ data, input, emit }) => {
          emit("counted", { item: data, words: "x".repeat(400) });
          if (input.door !== undefined && data === 5) await gates.pass(input.door);
          return data;
        },
      }),
  })
  .andThen({ id: "sum", execute: ({ data }) => data.length });

/** Waits for a person at its second step. */
export const refund = createWorkflow({
  id: "refund",
  input: z.object({ order: z.number(), note: z.string().default("none") }),
  result: z.object({ order: z.number(), approved: z.boolean(), at: z.coerce.date().optional() }),
})
  .andThen({ id: "look", execute: ({ data }) => ({ order: data.order }) })
  .andThen({
    id: "approve",
    resumeSchema: z.object({ approved: z.boolean(), by: z.string().default("somebody") }),
    execute: ({ data, resumeData, suspend }) =>
      resumeData ? { order: data.order, approved: resumeData.approved } : suspend("Refund?", data),
  });

/** Fails with words for everyone. */
export const broken = createWorkflow({ id: "broken", input: z.object({}) }).andThen({
  id: "fail",
  execute: (): string => {
    throw new PublicError("out of paper");
  },
});

/** Waits at the door that its input names. */
export const held = createWorkflow({ id: "held", input: z.object({ door: z.string() }) }).andThen({
  id: "wait",
  execute: async ({ data }) => {
    await gates.pass(data.door);
    return { passed: data.door };
  },
});

export const workflows = { count, refund, broken, held };
