// A pause from outside while the body in flight is about to suspend: both wait, and each is answered for itself.
import { createWorkflow } from "@andante/core";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 2 },
  pauseAt: "gate",
  answer: () => ({ resumeData: { fine: true } }),
  workflow: createWorkflow({ id: "pause-over-gate", input: z.object({ amount: z.number() }) })
    .andThen({ id: "before", execute: bodies.slow(4, ({ data }) => ({ amount: data.amount + 1 })) })
    .andThen({
      id: "gate",
      suspendSchema: z.object({ amount: z.number() }),
      execute: bodies.slow(20, ({ data, resumeData, suspend }) =>
        resumeData === undefined ? suspend("fine?", data) : { data, resumeData },
      ),
    })
    .andThen({ id: "after", execute: bodies.slow(4, ({ data }) => ({ after: data })) }),
});
