// A step that suspends twice, and a later one that looks back at it.
import { createWorkflow } from "@andante/core";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

const round = z.object({ round: z.number() });

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 9 },
  answer: ({ data }) => ({ resumeData: { round: round.parse(data).round, word: "yes" } }),
  workflow: createWorkflow({ id: "gate", input: z.object({ amount: z.number() }) })
    .andThen({ id: "prepare", execute: bodies.slow(4, ({ data }) => ({ amount: data.amount + 1 })) })
    .andThen({
      id: "approve",
      suspendSchema: round,
      resumeSchema: z.object({ round: z.number(), word: z.string() }),
      execute: bodies.slow(4, ({ data, resumeData, suspendData, suspend }) => {
        if (resumeData === undefined) return suspend("first", { round: 1 });
        if (resumeData.round < 2) return suspend("second", { round: 2 });
        return { amount: data.amount, resumeData, suspendData };
      }),
    })
    .andThen({
      id: "empty",
      suspendSchema: round,
      execute: bodies.quick(({ data, resumeData, suspend }) =>
        resumeData === undefined ? suspend("third", { round: 3 }) : { ...data, again: resumeData },
      ),
    })
    .andThen({
      id: "last",
      execute: bodies.slow(4, ({ data, context, getStepData }) => ({
        data,
        tenant: context.get("tenant"),
        approved: getStepData("approve")?.output,
      })),
    }),
});
