// andTap that suspends: the data passes unchanged after the answer.
import { createWorkflow } from "@andante/core";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 8 },
  answer: () => ({ resumeData: undefined }),
  workflow: createWorkflow({ id: "gate-in-tap", input: z.object({ amount: z.number() }) })
    .andThen({ id: "before", execute: bodies.quick(({ data }) => ({ amount: data.amount - 1 })) })
    .andTap({
      id: "gate",
      execute: bodies.slow(4, ({ resumeData, suspend }) => {
        // An empty answer arrives as null.
        if (resumeData === undefined) suspend();
      }),
    })
    .andThen({ id: "after", execute: bodies.slow(4, ({ data }) => ({ amount: data.amount * 2 })) }),
});
