// Budgets over time, in queries and responses.
import { z } from "zod";
import { component, shape, timestamp } from "./component.ts";

/** The use of a budget by one subject. */
export const budgetState = component("BudgetState", () =>
  z.object({
    per: z.enum(["user", "agent", "tag", "all"]),
    subject: z
      .string()
      .nullable()
      .describe("The user, agent or tag; null for all, and for calls without a user"),
    unit: z.enum(["money", "tokens"]),
    window: z.int().describe("Milliseconds"),
    startsAt: timestamp(),
    endsAt: timestamp(),
    limit: z.number().describe("With the amounts that people have added for this window"),
    used: z.number(),
    held: z.number().describe("As much as the calls in flight may use"),
    warnAt: z.number().describe("The part of the limit at which a log line warns"),
    onReached: z.enum(["refuse", "suspend"]),
  }),
);

export const budgetReport = component("BudgetReport", () =>
  z.object({
    budgets: z
      .array(budgetState())
      .describe("The current windows, the 100 highest of each budget; empty where the host has none"),
  }),
);

export const budgetQuery = shape(() =>
  z.object({
    userId: z.string().describe("Only the budgets of this user").optional(),
  }),
);
