// Sleeps: a short one that is waited for in memory, long ones that are waited for at rest, and one that loses a race.
import { andSleep, andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 3 },
  workflow: createWorkflow({ id: "sleep", input: z.object({ amount: z.number() }) })
    .andSleep({ id: "short", duration: bodies.quick(() => 25) })
    .andRace({
      id: "race",
      steps: [
        andSleep({ id: "for-ever", duration: "1d" }),
        // Longer than an execution stays loaded for: the process lets go of it, and wakes it by its row.
        (chain) =>
          chain
            .andSleep({ id: "long", duration: bodies.quick(() => 1050) })
            .andThen({ id: "woken", execute: bodies.slow(4, ({ data }) => ({ amount: data.amount + 1 })) }),
      ],
    })
    .andAll({
      id: "both",
      steps: [
        andSleep({ id: "nap", duration: bodies.quick(() => 10) }),
        andThen({ id: "work", execute: bodies.slow(15, ({ data }: Given<{ amount: number }>) => data) }),
      ],
    })
    .andThen({ id: "last", execute: bodies.quick(({ data }) => ({ data })) }),
});
