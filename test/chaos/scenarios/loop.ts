// Loops of both kinds, the second with a branch inside, and the state that they set.
import { andBranch, andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => ({
  input: 1,
  workflow: createWorkflow({ id: "loop", input: z.number() })
    .andDoWhile({
      id: "double",
      condition: bodies.quick(({ data }) => data < 8),
      step: andThen({
        id: "twice",
        execute: bodies.slow(4, ({ data, setState }) => {
          setState((state) => ({ rounds: Number(state.rounds ?? 0) + 1 }));
          return data * 2;
        }),
      }),
    })
    .andDoUntil({
      id: "shrink",
      condition: bodies.slow(4, ({ data }) => data < 4),
      step: andBranch({
        id: "by-size",
        branches: [
          {
            condition: bodies.quick(({ data }) => data > 100),
            step: andThen({ id: "huge", execute: bodies.quick(() => 0) }),
          },
          {
            condition: bodies.slow(4, ({ data }) => data > 5),
            step: andThen({ id: "large", execute: bodies.slow(4, ({ data }) => data - 3) }),
          },
          {
            condition: bodies.quick(() => true),
            step: andThen({ id: "small", execute: bodies.quick(({ data }) => data - 2) }),
          },
        ],
      }),
    })
    .andThen({ id: "last", execute: bodies.quick(({ data, state }) => ({ data, rounds: state.rounds })) }),
});
