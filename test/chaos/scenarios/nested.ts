// Containers in containers in containers, with agents left out and everything else in.
import { andTap, andThen, andWhen, andWorkflow, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

interface Amount {
  amount: number;
}

export const scenario: MakeScenario = (bodies) => {
  const child = createWorkflow({ id: "nested-child", input: z.object({ amount: z.number() }) }).andAll({
    id: "pair",
    steps: [
      andThen({ id: "one", execute: bodies.slow(5, ({ data }: Given<Amount>) => data.amount + 1) }),
      andWhen({
        id: "two",
        condition: bodies.slow(3, ({ data }: Given<Amount>) => data.amount > 0),
        step: andThen({ id: "yes", execute: bodies.quick(({ data }: Given<Amount>) => data.amount + 2) }),
      }),
    ],
  });
  return {
    input: { amount: 2 },
    workflow: createWorkflow({ id: "nested", input: z.object({ amount: z.number() }) })
      .andAll({
        id: "outer",
        steps: [
          andWorkflow({ id: "child", workflow: child }),
          (chain) =>
            chain.andRace({
              id: "race",
              steps: [
                andThen({ id: "endless", execute: bodies.endless<Given<Amount>>() }),
                (branch) =>
                  branch.andAll({
                    id: "inner",
                    steps: [
                      andThen({
                        id: "slow",
                        execute: bodies.slow(8, ({ data }: Given<Amount>) => data.amount * 2),
                      }),
                      andTap({ id: "tap", execute: bodies.slow(4, (_: Given<Amount>) => undefined) }),
                    ],
                  }),
              ],
            }),
        ],
      })
      .andThen({ id: "last", execute: bodies.slow(4, ({ data }) => ({ all: data })) }),
  };
};
