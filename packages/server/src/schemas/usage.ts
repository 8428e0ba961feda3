// Tokens and calls of models, in responses.
import { z } from "zod";
import { component, shape } from "./component.ts";

export const usageFields = shape(() => ({
  inputTokens: z.int(),
  outputTokens: z.int(),
  totalTokens: z.int(),
  cachedInputTokens: z
    .int()
    .optional()
    .describe("Those of `inputTokens` that came from the provider's cache; absent when unknown"),
  reasoningTokens: z
    .int()
    .optional()
    .describe("Those of `outputTokens` that the model used for reasoning; absent when unknown"),
  inputTokenDetails: z
    .object({ cacheReadTokens: z.int(), cacheWriteTokens: z.int().optional() })
    .optional()
    .describe("The tokens of the provider's cache under the AI SDK's names; absent when unknown"),
  outputTokenDetails: z
    .object({ reasoningTokens: z.int() })
    .optional()
    .describe("`reasoningTokens` under the AI SDK's name; absent when unknown"),
  money: z
    .number()
    .optional()
    .describe("For the calls with a price, in the currency of the host's prices; absent when unknown"),
  unpricedCalls: z
    .int()
    .optional()
    .describe("Calls without a price, which `money` does not have; absent without any"),
}));

export const usage = component("Usage", () =>
  z.object({ ...usageFields(), calls: z.int() }).describe("Tokens and calls of models"),
);
