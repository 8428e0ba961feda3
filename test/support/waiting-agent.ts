// An agent whose tool waits for a payment in its own code.
import { Agent, durable } from "@andante/core";
import { tool } from "ai";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";

export const waiting = new Agent({
  id: "waiting",
  model: controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? { text: [`Done: ${JSON.stringify(prompt.at(-1)?.content)}`] }
      : { text: ["Let me order."], calls: [{ name: "order", input: { item: "tea" } }] },
  ),
  tools: {
    order: tool({
      inputSchema: z.object({ item: z.string() }),
      execute: async ({ item }, options) => {
        const resumeSchema = z.object({ paid: z.boolean() });
        const { paid } = await durable(options).suspend(
          "Waiting for the payment",
          { item },
          { resumeSchema },
        );
        return paid ? "ordered" : "not ordered";
      },
    }),
  },
});
