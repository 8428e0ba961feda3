// Tokens and calls of models, and their sums.
import type { Fields } from "../values/fields.ts";

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

/** The difference of a later usage and an earlier one. */
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

/** Tokens as a provider reports them. */
interface ReportedTokens {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Default: the sum of both. */
  readonly totalTokens?: number | undefined;
}

/** The same in whole numbers, as stores keep it: some providers report fractions, or nothing. */
export function wholeTokens({ totalTokens, ...reported }: ReportedTokens) {
  const [inputTokens, outputTokens] = [whole(reported.inputTokens), whole(reported.outputTokens)];
  const total = totalTokens === undefined ? inputTokens + outputTokens : whole(totalTokens);
  return { inputTokens, outputTokens, totalTokens: total };
}

function whole(count: number | undefined): number {
  return count !== undefined && Number.isFinite(count) ? Math.max(0, Math.round(count)) : 0;
}

/** The two details, each only where it is above 0. */
export function usageDetails(
  cachedInputTokens = 0,
  reasoningTokens = 0,
): Pick<StoredUsage, "cachedInputTokens" | "reasoningTokens"> {
  return {
    ...(cachedInputTokens > 0 && { cachedInputTokens: whole(cachedInputTokens) }),
    ...(reasoningTokens > 0 && { reasoningTokens: whole(reasoningTokens) }),
  };
}

/** Reads a usage that was kept as a JSON object. */
export function readUsageFields(fields: Fields): StoredUsage {
  return {
    inputTokens: fields.number("inputTokens"),
    outputTokens: fields.number("outputTokens"),
    totalTokens: fields.number("totalTokens"),
    calls: fields.number("calls"),
    ...usageDetails(fields.optionalNumber("cachedInputTokens"), fields.optionalNumber("reasoningTokens")),
  };
}
