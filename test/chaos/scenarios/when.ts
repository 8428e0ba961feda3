// andWhen: conditions that hold and do not, a step and a chain inside.
import { andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

type Amount = Given<{ amount: number }>;

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 5 },
  workflow: createWorkflow({ id: "when", input: z.object({ amount: z.number() }) })
    .andWhen({
      id: "large",
      condition: bodies.slow(5, ({ data }) => data.amount > 2),
      step: andThen({
        id: "shrink",
        execute: bodies.slow(5, ({ data }: Amount) => ({ amount: data.amount - 2 })),
      }),
    })
    .andWhen({
      id: "huge",
      condition: bodies.quick(({ data }) => data.amount > 100),
      step: andThen({ id: "never", execute: bodies.quick((_: Amount) => ({ amount: -1 })) }),
    })
    .andWhen({
      id: "odd",
      condition: bodies.quick(({ data }) => data.amount % 2 === 1),
      step: (chain) =>
        chain
          .andThen({ id: "half", execute: bodies.slow(5, ({ data }) => ({ amount: (data.amount - 1) / 2 })) })
          .andThen({ id: "label", execute: bodies.quick(({ data }) => ({ ...data, label: "odd" })) }),
    }),
});
