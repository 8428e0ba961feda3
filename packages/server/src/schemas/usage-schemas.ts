// The usage of models over time, in queries and responses.
import { z } from "zod";
import { component, page, shape } from "./component.ts";
import { time } from "./execution-schemas.ts";

const groups = shape(() => z.enum(["day", "user", "agent", "workflow", "model"]));

const sums = shape(() => ({
  calls: z.int(),
  inputTokens: z.int(),
  cachedInputTokens: z.int().describe("Those of `inputTokens` that came from the provider's cache"),
  cacheWriteTokens: z.int().describe("Those of `inputTokens` that were written to the provider's cache"),
  outputTokens: z.int(),
  reasoningTokens: z.int().describe("Those of `outputTokens` that the model used for reasoning"),
  money: z
    .number()
    .nullable()
    .describe("In the currency of the host's prices; null when no call has a known price"),
  unpricedCalls: z.int().describe("Calls without a known price, which `money` does not have"),
}));

export const usageReport = component("UsageReport", () =>
  z.object({
    by: groups(),
    from: z.iso.date().describe("The first day, UTC"),
    to: z.iso.date().describe("The last day, UTC"),
    rows: z
      .array(
        z.object({
          key: z.string().nullable().describe("The day, or the id of the group; null for calls without one"),
          ...sums(),
        }),
      )
      .describe("Days from the latest on; others by money, then by tokens, the highest first"),
    total: z.object(sums()).describe("Of all pages"),
    nextCursor: z.string().nullable(),
  }),
);

export const usageQuery = shape(() =>
  z.object({
    by: groups(),
    from: time("From the day of this time on, UTC; 30 days with today by default"),
    to: time("Before this time, to the end of its day, UTC; now by default"),
    userId: z.string().optional(),
    agentId: z.string().optional(),
    workflowId: z.string().optional(),
    model: z.string().describe("Provider and name").optional(),
    ...page(),
  }),
);
