// Usage of models by day, user, agent, workflow and model: the part of the store contract that money is read from.
//
// A row is written in the commit of the call that it counts; calls without a commit are added in batches.
import { cacheWritesOf, type StoredUsage, toNanos, unpricedOf } from "./usage.ts";

/** The key of a row; a name is "" where there is none or it is not known. */
export interface UsageKey {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly userId: string;
  readonly agentId: string;
  readonly workflowId: string;
  /** Provider and name. */
  readonly model: string;
}

/** Sums over calls of models. */
export interface UsageCounts {
  readonly calls: number;
  readonly inputTokens: number;
  /** Those of `inputTokens` that came from the provider's cache, and those that were written to it. */
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** Those of `outputTokens` that the model reasoned with. */
  readonly reasoningTokens: number;
  /** Billionths of the host's currency: the money for the calls that have a price. */
  readonly nanos: number;
  /** Calls without a known price. */
  readonly unpricedCalls: number;
}

export interface UsageEntry extends UsageKey, UsageCounts {}

/** Adds calls that no commit has. The writer and the number are its key: repeating the newest one adds nothing. */
export interface UsageBatch {
  /** A random id of the process. */
  readonly writer: string;
  /** Grows by 1 with each batch of this writer. */
  readonly number: number;
  /** Each key once. */
  readonly entries: readonly UsageEntry[];
}

/** The part of the key that usage is grouped by. */
export type UsageDimension = keyof UsageKey;

type UsageFilters = { readonly [Name in Exclude<UsageDimension, "day">]?: string | undefined };

export interface UsageQuery extends UsageFilters {
  readonly by: UsageDimension;
  /** This day and later. */
  readonly from: number;
  /** Before this day. */
  readonly to: number;
  readonly limit: number;
  readonly offset: number;
  /** The most rows that are read, those of the newest days. A filter by workflow or model counts after that. */
  readonly rows: number;
}

export interface UsageTotal extends UsageCounts {
  /** The value of the dimension; of a day its number. */
  readonly of: string;
}

export interface UsageStore {
  add(batch: UsageBatch): Promise<void>;
  /** Days from the latest on; others by money, then by tokens, the highest first. */
  totals(query: UsageQuery): Promise<readonly UsageTotal[]>;
  /** Removes at most so many rows of days before this one; returns how many. */
  trim(query: { readonly before: number; readonly limit: number }): Promise<number>;
}

/** Milliseconds. */
const dayLength = 86_400_000;

/** The day of a time, UTC. */
export function dayOf(time: number): number {
  return Math.floor(time / dayLength);
}

/** Milliseconds since 1970 at its beginning. */
export function timeOfDay(day: number): number {
  return day * dayLength;
}

export const noCounts: UsageCounts = {
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  nanos: 0,
  unpricedCalls: 0,
};

/** The usage of calls as an entry. */
export function usageEntry(key: UsageKey, usage: StoredUsage): UsageEntry {
  return {
    ...key,
    calls: usage.calls,
    inputTokens: usage.inputTokens,
    cachedInputTokens: usage.cachedInputTokens ?? 0,
    cacheWriteTokens: cacheWritesOf(usage),
    outputTokens: usage.outputTokens,
    reasoningTokens: usage.reasoningTokens ?? 0,
    nanos: toNanos(usage.money ?? 0),
    unpricedCalls: unpricedOf(usage),
  };
}

/** The fields of the sums, in the order of their columns. */
export const usageFields = [
  "calls",
  "inputTokens",
  "cachedInputTokens",
  "cacheWriteTokens",
  "outputTokens",
  "reasoningTokens",
  "nanos",
  "unpricedCalls",
] as const satisfies readonly (keyof UsageCounts)[];

export function addCounts(one: UsageCounts, other: UsageCounts): UsageCounts {
  return {
    calls: one.calls + other.calls,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    nanos: one.nanos + other.nanos,
    unpricedCalls: one.unpricedCalls + other.unpricedCalls,
  };
}

/** A text that is the same for entries of one key. */
export function usageKeyOf({ day, userId, agentId, workflowId, model }: UsageKey): string {
  return JSON.stringify([day, userId, agentId, workflowId, model]);
}

/** The entries with those of one key added up, in the order of their keys. */
export function mergeEntries(entries: readonly UsageEntry[]): readonly UsageEntry[] {
  if (entries.length < 2) return entries;
  const merged = new Map<string, UsageEntry>();
  for (const entry of entries) {
    const key = usageKeyOf(entry);
    const before = merged.get(key);
    merged.set(key, before === undefined ? entry : { ...entry, ...addCounts(before, entry) });
  }
  return [...merged].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, entry]) => entry);
}
