// A pause from outside while bodies are in flight.
import { andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

type Amount = Given<{ amount: number }>;

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 2 },
  pauseAt: "both",
  workflow: createWorkflow({ id: "pause", input: z.object({ amount: z.number() }) })
    .andThen({ id: "before", execute: bodies.quick(({ data }) => ({ amount: data.amount + 1 })) })
    .andAll({
      id: "both",
      steps: [
        andThen({ id: "short", execute: bodies.slow(10, ({ data }: Amount) => data.amount) }),
        andThen({ id: "long", execute: bodies.slow(25, ({ data }: Amount) => data.amount * 2) }),
      ],
    })
    .andThen({ id: "after", execute: bodies.slow(4, ({ data }) => ({ after: data })) }),
});
