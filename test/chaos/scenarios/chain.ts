// andThen and andTap in a row: synchronous, slow, and a tap that fails.
import { createWorkflow } from "@andante/core";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => ({
  input: { amount: 3 },
  workflow: createWorkflow({
    id: "chain",
    input: z.object({ amount: z.number(), unit: z.string().default("m") }),
  })
    .andThen({ id: "double", execute: bodies.quick(({ data }) => ({ ...data, amount: data.amount * 2 })) })
    .andThen({ id: "add", execute: bodies.slow(6, ({ data }) => ({ ...data, amount: data.amount + 1 })) })
    .andTap({ id: "note", execute: bodies.slow(4, () => "not passed on") })
    .andTap({
      id: "break",
      execute: bodies.quick(() => {
        throw new Error("a tap may fail");
      }),
    })
    .andThen({ id: "nothing", execute: bodies.quick(() => undefined) })
    .andThen({
      id: "text",
      execute: bodies.slow(6, ({ input, getStepData }) => {
        const { output } = getStepData("add") ?? {};
        return {
          text: `${input.amount}${input.unit} ${JSON.stringify(output)} \u0000 "ü" ${"x".repeat(5000)}`,
        };
      }),
    }),
});
