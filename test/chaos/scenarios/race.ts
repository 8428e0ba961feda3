// andRace: a branch that fails, one that never ends, one that waits and is closed by the winner.
import { andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

type Amount = Given<{ amount: number }>;

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 4 },
  workflow: createWorkflow({ id: "race", input: z.object({ amount: z.number() }) })
    .andRace({
      id: "first",
      steps: [
        andThen({ id: "endless", execute: bodies.endless<Amount>() }),
        andThen({
          id: "broken",
          execute: bodies.quick((_: Amount): { amount: number } => {
            throw new Error("this branch always fails");
          }),
        }),
        (chain) =>
          chain
            .andThen({ id: "warm-up", execute: bodies.slow(5, ({ data }) => ({ amount: data.amount + 1 })) })
            .andThen({ id: "winner", execute: bodies.slow(5, ({ data }) => ({ amount: data.amount * 3 })) }),
      ],
    })
    .andRace({
      id: "second",
      steps: [
        andThen({ id: "gate", execute: bodies.quick(({ suspend }: Amount) => suspend("nobody answers")) }),
        andThen({
          id: "overtaker",
          execute: bodies.slow(10, ({ data }: Amount) => ({ ...data, by: "overtaker" })),
        }),
      ],
    })
    .andThen({ id: "last", execute: bodies.slow(6, ({ data }) => ({ won: data })) }),
});
