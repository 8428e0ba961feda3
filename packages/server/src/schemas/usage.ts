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
}));

export const usage = component("Usage", () =>
  z.object({ ...usageFields(), calls: z.int() }).describe("Tokens and calls of models"),
);
