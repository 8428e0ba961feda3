// andRace that can only be won by a branch that waits.
import { andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

type Amount = Given<{ amount: number }>;

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 1 },
  answer: ({ stepId }) => (stepId === "gate" ? { resumeData: { chosen: true } } : undefined),
  workflow: createWorkflow({ id: "gate-in-race", input: z.object({ amount: z.number() }) })
    .andRace({
      id: "race",
      steps: [
        andThen({
          id: "broken",
          execute: bodies.slow(6, (_: Amount): { won: unknown } => {
            throw new Error("this branch always fails");
          }),
        }),
        andThen({
          id: "unanswered",
          execute: bodies.quick(({ suspend }: Amount) => suspend("nobody comes")),
        }),
        (chain) =>
          chain.andTap({ id: "before", execute: bodies.slow(4, () => undefined) }).andThen({
            id: "gate",
            execute: bodies.slow(4, ({ resumeData, suspend }) =>
              resumeData === undefined ? suspend("choose") : { won: resumeData },
            ),
          }),
      ],
    })
    .andThen({ id: "last", execute: bodies.slow(4, ({ data }) => ({ data })) }),
});
