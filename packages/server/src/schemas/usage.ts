// What models have used, in responses.
import { z } from "zod";
import { shape } from "./component.ts";

export const usageFields = shape(() => ({
  inputTokens: z.int(),
  outputTokens: z.int(),
  totalTokens: z.int(),
  cachedInputTokens: z.int().optional(),
  reasoningTokens: z.int().optional(),
}));

export const usage = shape(() => z.object({ ...usageFields(), calls: z.int() }));
