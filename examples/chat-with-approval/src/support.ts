// An agent that looks up orders, and refunds them when a person approves.
import { Agent, operationContext } from "@andante/core";
import { type LanguageModel, tool } from "ai";
import { z } from "zod";

export interface Shop {
  find(order: string): Promise<{ readonly order: string; readonly amount: number; readonly status: string }>;
  /** Refunds once per key, however often it is called. */
  refund(order: string, key: string): Promise<void>;
}

export function supportWith(model: LanguageModel, { find, refund }: Shop) {
  return new Agent({
    id: "support",
    name: "Support",
    purpose: "Answers questions about orders and pays money back",
    model,
    instructions: "You help customers of a shop. Look an order up before you say anything about it.",
    tools: {
      findOrder: tool({
        description: "Looks an order up",
        inputSchema: z.object({ order: z.string() }),
        execute: ({ order }) => find(order),
      }),
      refund: tool({
        description: "Pays back what was paid for an order",
        inputSchema: z.object({ order: z.string() }),
        contextSchema: operationContext,
        execute: async ({ order }, { context }) => {
          // The same key when the call runs again after a crash.
          await refund(order, context.idempotencyKey ?? order);
          return { refunded: order };
        },
      }),
    },
    toolApproval: { refund: "user-approval" },
  });
}
