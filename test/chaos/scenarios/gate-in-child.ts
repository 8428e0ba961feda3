// A suspension deep inside: in a child workflow, in a condition's step, in one of several branches.
import { andThen, andWhen, andWorkflow, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => {
  const child = createWorkflow({
    id: "gate-in-child-child",
    input: z.object({ amount: z.number() }),
    resumeSchema: z.object({ extra: z.number(), unit: z.string().default("m") }),
  })
    .andThen({ id: "before", execute: bodies.slow(4, ({ data }) => ({ amount: data.amount + 1 })) })
    .andThen({
      id: "gate",
      suspendSchema: z.object({ amount: z.number() }),
      execute: bodies.quick(({ data, resumeData, suspendData, suspend }) =>
        resumeData === undefined ? suspend("more?", data) : { resumeData, suspendData },
      ),
    })
    .andThen({ id: "after", execute: bodies.slow(4, ({ data, input }) => ({ ...data, input })) });
  return {
    input: { amount: 3 },
    answer: () => ({ resumeData: { extra: 5 } }),
    workflow: createWorkflow({ id: "gate-in-child", input: z.object({ amount: z.number() }) })
      .andAll({
        id: "both",
        steps: [
          andWhen({
            id: "maybe",
            condition: bodies.quick(({ data }) => data.amount > 0),
            step: andWorkflow({ id: "child", workflow: child }),
          }),
          andThen({ id: "beside", execute: bodies.slow(10, ({ data }) => data.amount) }),
        ],
      })
      .andThen({ id: "last", execute: bodies.quick(({ data }) => ({ data })) }),
  };
};
