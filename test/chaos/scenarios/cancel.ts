// A cancel from outside while a body is in flight.
import { createWorkflow } from "@andante/core";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 2 },
  cancelAt: "hold",
  workflow: createWorkflow({ id: "cancel", input: z.object({ amount: z.number() }) })
    .andThen({ id: "before", execute: bodies.slow(4, ({ data }) => ({ amount: data.amount + 1 })) })
    .andThen({ id: "hold", execute: bodies.endless() })
    .andThen({ id: "never", execute: bodies.quick(({ data }) => ({ data })) }),
});
