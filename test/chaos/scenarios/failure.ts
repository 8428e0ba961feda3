// andAll in which one branch fails: the execution ends in error, the other branches are closed.
import { andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

type Amount = Given<{ amount: number }>;

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 2 },
  workflow: createWorkflow({ id: "failure", input: z.object({ amount: z.number() }) })
    .andThen({ id: "before", execute: bodies.slow(4, ({ data }) => ({ amount: data.amount + 1 })) })
    .andAll({
      id: "both",
      steps: [
        andThen({ id: "endless", execute: bodies.endless<Amount>() }),
        andThen({ id: "gate", execute: bodies.quick(({ suspend }: Amount) => suspend("nobody answers")) }),
        andThen({
          id: "broken",
          execute: bodies.slow(10, (_: Amount): number => {
            throw new RangeError("this branch always fails");
          }),
        }),
      ],
    })
    .andThen({ id: "never", execute: bodies.quick(({ data }) => ({ data })) }),
});
