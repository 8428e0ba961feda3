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
  /** The same under the AI SDK's names, and those that the provider wrote to its cache; absent when none is known of. */
  readonly inputTokenDetails?: { readonly cacheReadTokens: number; readonly cacheWriteTokens?: number };
  readonly outputTokenDetails?: { readonly reasoningTokens: number };
  /** The money for those calls whose model has a price, in the currency of the host's prices; absent without one. */
  readonly money?: number;
  /** Calls of models without a price; absent when there are none, and where the host has no prices. */
  readonly unpricedCalls?: number;
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
      cacheWritesOf(one) + cacheWritesOf(other),
    ),
    ...sumMoney(one, other, 1),
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
      cacheWritesOf(now) - cacheWritesOf(before),
    ),
    ...sumMoney(now, before, -1),
  };
}

/** Money is counted in billionths, so that sums do not depend on their order. */
const unit = 1e9;

export function toNanos(money: number): number {
  return Math.round(money * unit);
}

/** The most money of one call, a million of the currency: sums of it stay in the range of a column. */
export const maxCallNanos = 1e15;

export function fromNanos(nanos: number): number {
  return nanos / unit;
}

export function cacheWritesOf({ inputTokenDetails }: StoredUsage): number {
  return inputTokenDetails?.cacheWriteTokens ?? 0;
}

/** Calls whose price is not known: all of them where the host has no prices. */
export function unpricedOf({ calls, money, unpricedCalls }: StoredUsage): number {
  return unpricedCalls ?? (money === undefined ? calls : 0);
}

/** Money as columns keep it: null where it is not known, and for calls of a host without prices. */
export function moneyColumns(usage: StoredUsage): {
  readonly nanos: number | null;
  readonly unpriced: number | null;
} {
  const { money } = usage;
  return {
    nanos: money === undefined ? null : toNanos(money),
    unpriced: hasPrices(usage) ? unpricedOf(usage) : null,
  };
}

function hasPrices({ money, unpricedCalls }: StoredUsage): boolean {
  return money !== undefined || unpricedCalls !== undefined;
}

function sumMoney(one: StoredUsage, other: StoredUsage, sign: 1 | -1): Pick<StoredUsage, MoneyField> {
  if (!hasPrices(one) && !hasPrices(other)) return {};
  const nanos = toNanos(one.money ?? 0) + sign * toNanos(other.money ?? 0);
  const isKnown = one.money !== undefined || other.money !== undefined;
  return moneyDetails(isKnown ? fromNanos(nanos) : undefined, unpricedOf(one) + sign * unpricedOf(other));
}

type MoneyField = "money" | "unpricedCalls";

/** The fields of money, each only where it is known or above 0. */
export function moneyDetails(money: number | undefined, unpricedCalls = 0): Pick<StoredUsage, MoneyField> {
  return { ...(money !== undefined && { money }), ...(unpricedCalls > 0 && { unpricedCalls }) };
}

/** Tokens as a provider reports them. */
interface ReportedTokens {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Default: the sum of both. */
  readonly totalTokens?: number | undefined;
}

/** The most tokens of one reply. A wrong report of more could not be kept, and neither could the reply with it. */
const maxTokens = 1e9;

/** A count that a provider reports, as stores keep it: some report fractions, or numbers that cannot be true. */
function reportedTokens(count: number | undefined): number {
  return Math.min(whole(count), maxTokens);
}

/** The same in whole numbers. */
export function wholeTokens({ totalTokens, ...reported }: ReportedTokens) {
  const inputTokens = reportedTokens(reported.inputTokens);
  const outputTokens = reportedTokens(reported.outputTokens);
  const total = totalTokens === undefined ? inputTokens + outputTokens : reportedTokens(totalTokens);
  return { inputTokens, outputTokens, totalTokens: total };
}

function whole(count: number | undefined): number {
  return count !== undefined && Number.isFinite(count) ? Math.max(0, Math.round(count)) : 0;
}

type UsageDetails = Omit<StoredUsage, "inputTokens" | "outputTokens" | "totalTokens" | "calls" | MoneyField>;

/** The details of a call as its provider reports them. */
export function reportedDetails(...details: Parameters<typeof usageDetails>): UsageDetails {
  return usageDetails(...details.map(reportedTokens));
}

/** The details under all of their names, each only where it is above 0. */
export function usageDetails(cached = 0, reasoned = 0, cacheWritten = 0): UsageDetails {
  const [cacheReadTokens, reasoningTokens] = [whole(cached), whole(reasoned)];
  const written = cacheWritten > 0 && { cacheWriteTokens: whole(cacheWritten) };
  return {
    ...(cached > 0 && { cachedInputTokens: cacheReadTokens }),
    ...((cached > 0 || written) && { inputTokenDetails: { cacheReadTokens, ...written } }),
    ...(reasoned > 0 && { reasoningTokens, outputTokenDetails: { reasoningTokens } }),
  };
}

/** Reads a usage that was kept as a JSON object. */
export function readUsageFields(fields: Fields): StoredUsage {
  return {
    inputTokens: fields.number("inputTokens"),
    outputTokens: fields.number("outputTokens"),
    totalTokens: fields.number("totalTokens"),
    calls: fields.number("calls"),
    ...usageDetails(
      fields.optionalNumber("cachedInputTokens"),
      fields.optionalNumber("reasoningTokens"),
      fields.object("inputTokenDetails")?.optionalNumber("cacheWriteTokens"),
    ),
    ...moneyDetails(fields.optionalNumber("money"), fields.optionalNumber("unpricedCalls")),
  };
}
