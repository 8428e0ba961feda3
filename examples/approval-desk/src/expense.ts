// Expenses: small ones are paid, others wait for a person, and are refused after three days without a decision.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

/** Pays once per key, however often it is called. */
export type Pay = (payment: {
  readonly key: string;
  readonly to: string;
  readonly amount: number;
}) => Promise<string>;

const decision = z.object({ approved: z.boolean(), note: z.string().default("") });

export function expenseWith(pay: Pay) {
  return createWorkflow({
    id: "expense",
    name: "Pay an expense",
    purpose: "Asks a person before more than 100 is paid",
    input: z.object({ to: z.string(), amount: z.number().positive(), what: z.string() }),
    result: z.object({ paid: z.boolean(), receipt: z.string().nullable(), note: z.string() }),
    tags: ["desk"],
  })
    .andThen({
      id: "decide",
      purpose: "Waits for the decision of a person",
      resumeSchema: decision,
      execute: ({ data, suspend, resumeData }) => {
        if (data.amount <= 100) return { approved: true, note: "small" };
        if (resumeData !== undefined) return resumeData;
        const refusal = { approved: false, note: "nobody decided in three days" };
        return suspend(`${data.to} asks for ${data.amount}: ${data.what}`, data, {
          deadline: "3d",
          onDeadline: { resume: refusal },
        });
      },
    })
    .andThen({
      id: "pay",
      retry: { attempts: 5, delay: "2s" },
      execute: async ({ data: { approved, note }, input, idempotencyKey }) => {
        if (!approved) return { paid: false, receipt: null, note };
        const receipt = await pay({ key: idempotencyKey, to: input.to, amount: input.amount });
        return { paid: true, receipt, note };
      },
    });
}
