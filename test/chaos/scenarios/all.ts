// andAll: synchronous, slow and chained branches that end at different times.
import { andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

type Amount = Given<{ amount: number }>;

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 7 },
  workflow: createWorkflow({ id: "all", input: z.object({ amount: z.number() }) })
    .andAll({
      id: "fan-out",
      steps: [
        andThen({ id: "left", execute: bodies.quick(({ data }: Amount) => data.amount + 1) }),
        andThen({ id: "middle", execute: bodies.slow(12, ({ data }: Amount) => data.amount + 2) }),
        (chain) =>
          chain
            .andThen({ id: "first", execute: bodies.slow(4, ({ data }) => data.amount * 10) })
            .andTap({ id: "second", execute: bodies.quick(() => undefined) })
            .andThen({ id: "third", execute: bodies.slow(4, ({ data }) => data + 3) }),
        andThen({ id: "empty", execute: bodies.slow(8, (_: Amount) => undefined) }),
      ],
    })
    .andThen({ id: "sum", execute: bodies.slow(4, ({ data: [a, b, c, d] }) => ({ sum: a + b + c, d })) }),
});
