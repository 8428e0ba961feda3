// What models have used: tokens and calls, and how they are added up.

/** Tokens and calls of models, summed. */
export interface StoredUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly calls: number;
  /** Those of `inputTokens` that came from the provider's cache; absent when none is known of. */
  readonly cachedInputTokens?: number;
  /** Those of `outputTokens` that the model thought with; absent when none is known of. */
  readonly reasoningTokens?: number;
}

export const nothingUsed: StoredUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls: 0 };

export function sumUsage(one: StoredUsage | null, other: StoredUsage): StoredUsage {
  if (one === null) return other;
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    calls: one.calls + other.calls,
    ...usageDetails(
      (one.cachedInputTokens ?? 0) + (other.cachedInputTokens ?? 0),
      (one.reasoningTokens ?? 0) + (other.reasoningTokens ?? 0),
    ),
  };
}

/** What a later usage has more than an earlier one. */
export function usageSince(now: StoredUsage, before: StoredUsage): StoredUsage {
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    totalTokens: now.totalTokens - before.totalTokens,
    calls: now.calls - before.calls,
    ...usageDetails(
      (now.cachedInputTokens ?? 0) - (before.cachedInputTokens ?? 0),
      (now.reasoningTokens ?? 0) - (before.reasoningTokens ?? 0),
    ),
  };
}

/** What a provider tells as a count of tokens: stores keep whole numbers, and some providers tell fractions or nothing. */
export function wholeTokens(told: number | undefined): number {
  return told !== undefined && Number.isFinite(told) ? Math.max(0, Math.round(told)) : 0;
}

/** The two details, each only where there is something to tell. */
export function usageDetails(
  cachedInputTokens = 0,
  reasoningTokens = 0,
): Pick<StoredUsage, "cachedInputTokens" | "reasoningTokens"> {
  return {
    ...(cachedInputTokens > 0 && { cachedInputTokens: wholeTokens(cachedInputTokens) }),
    ...(reasoningTokens > 0 && { reasoningTokens: wholeTokens(reasoningTokens) }),
  };
}
