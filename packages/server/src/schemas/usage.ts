// What models have used, in responses.
import { z } from "zod";

export const usageFields = {
  inputTokens: z.int(),
  outputTokens: z.int(),
  totalTokens: z.int(),
  cachedInputTokens: z.int().optional(),
  reasoningTokens: z.int().optional(),
};

export const usage = z.object({ ...usageFields, calls: z.int() });
