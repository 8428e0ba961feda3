// Deadlines: one that races an answer, one that ends a step in failure, one in a branch that loses.
import { andTap, andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 2 },
  // The same resume data as the deadline's: whichever wins, the execution ends the same way, and only one may.
  answer: ({ reason }) => (reason === "either" ? { resumeData: { word: "yes" } } : undefined),
  workflow: createWorkflow({ id: "deadline", input: z.object({ amount: z.number() }) })
    .andThen({
      id: "approve",
      suspendSchema: z.object({ amount: z.number() }),
      resumeSchema: z.object({ word: z.string() }),
      execute: bodies.slow(4, ({ data, resumeData, suspend }) =>
        resumeData === undefined
          ? suspend("either", data, { deadline: 12, onDeadline: { resume: { word: "yes" } } })
          : { ...data, ...resumeData },
      ),
    })
    .andAll({
      id: "both",
      steps: [
        andTap({
          id: "silent",
          execute: bodies.quick(({ suspend }: Given<unknown>) =>
            suspend("nobody answers", 1, { deadline: 20 }),
          ),
        }),
        andThen({
          id: "work",
          execute: bodies.slow(10, ({ data }: Given<object>) => ({ ...data, worked: true })),
        }),
      ],
    })
    .andRace({
      id: "race",
      steps: [
        andThen({
          id: "late",
          execute: bodies.quick(({ suspend }: Given<unknown>) =>
            suspend("the other branch wins", null, { deadline: "1h", onDeadline: "cancel" }),
          ),
        }),
        andThen({ id: "winner", execute: bodies.slow(6, ({ data }: Given<unknown>) => data) }),
      ],
    })
    .andThen({ id: "last", execute: bodies.quick(({ data }) => ({ data })) }),
});
