// andWorkflow: a child workflow that holds another one, with schemas that transform their values.
import { createWorkflow } from "@andante/core";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => {
  const grandchild = createWorkflow({
    id: "child-inner",
    input: z.object({ amount: z.number(), step: z.number().default(2) }),
  }).andThen({ id: "grow", execute: bodies.slow(5, ({ data }) => ({ amount: data.amount + data.step })) });
  const child = createWorkflow({
    id: "child-outer",
    input: z.object({ amount: z.number() }),
    result: z.object({ amount: z.number() }),
  })
    .andThen({ id: "before", execute: bodies.quick(({ data }) => ({ amount: data.amount * 2 })) })
    .andWorkflow({ id: "inner", workflow: grandchild })
    .andThen({
      id: "after",
      execute: bodies.slow(5, ({ data, input }) => ({ amount: data.amount + input.amount, dropped: true })),
    });
  return {
    input: { amount: 6 },
    workflow: createWorkflow({ id: "child", input: z.object({ amount: z.number() }) })
      .andWorkflow({ id: "outer", workflow: child })
      .andThen({ id: "last", execute: bodies.quick(({ data }) => ({ total: data })) }),
  };
};
