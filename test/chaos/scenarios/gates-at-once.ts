// andAll with several branches that wait at the same time, beside one that works on.
import { andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

type Amount = Given<{ amount: number }>;

export const scenario: MakeScenario = (bodies) => {
  const gate = ({ stepPath, resumeData, suspendData, suspend }: Amount) =>
    resumeData === undefined ? suspend(`at ${stepPath}`, { from: stepPath }) : { resumeData, suspendData };
  return {
    input: { amount: 1 },
    answer: ({ stepPath, data, reason }) => ({ resumeData: { for: stepPath, data, reason } }),
    workflow: createWorkflow({ id: "gates-at-once", input: z.object({ amount: z.number() }) })
      .andAll({
        id: "gates",
        steps: [
          andThen({ id: "quick", execute: bodies.quick(gate) }),
          andThen({ id: "slow", execute: bodies.slow(8, gate) }),
          (chain) =>
            chain
              .andThen({ id: "work", execute: bodies.slow(4, ({ data }) => ({ amount: data.amount + 1 })) })
              .andThen({
                id: "late",
                suspendSchema: z.object({ amount: z.number() }),
                execute: bodies.quick(({ data, resumeData, suspend }) =>
                  resumeData === undefined ? suspend("late", data) : { data, resumeData },
                ),
              })
              .andThen({ id: "after", execute: bodies.slow(4, ({ data }) => ({ after: data })) }),
          andThen({ id: "worker", execute: bodies.slow(12, ({ data }: Amount) => data.amount) }),
        ],
      })
      .andThen({ id: "last", execute: bodies.quick(({ data }) => ({ answers: data })) }),
  };
};
