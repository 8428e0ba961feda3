// Rows of usage, in any SQL database.
import type { UsageDimension, UsageEntry, UsageTotal } from "../usage-store.ts";
import { integer, type Row } from "./columns.ts";

export const usageKeyColumns = ["day", "user_id", "agent_id", "workflow_id", "model"] as const;

export const usageCountColumns = [
  "calls",
  "input_tokens",
  "cached_input_tokens",
  "cache_write_tokens",
  "output_tokens",
  "reasoning_tokens",
  "nanos",
  "unpriced_calls",
] as const;

export const usageColumnOf: Readonly<Record<UsageDimension, (typeof usageKeyColumns)[number]>> = {
  day: "day",
  userId: "user_id",
  agentId: "agent_id",
  workflowId: "workflow_id",
  model: "model",
};

/** The order of totals: `of` is the column of the dimension. */
export function usageOrder(by: UsageDimension): string {
  return by === "day" ? "of desc" : "nanos desc, input_tokens + output_tokens desc, of";
}

/** The values of the columns of a row, in their order. */
export function usageValues(entry: UsageEntry): (string | number)[] {
  const { day, userId, agentId, workflowId, model } = entry;
  const tokens = [entry.inputTokens, entry.cachedInputTokens, entry.cacheWriteTokens];
  const written = [entry.outputTokens, entry.reasoningTokens];
  return [
    ...[day, userId, agentId, workflowId, model],
    ...[entry.calls, ...tokens, ...written, entry.nanos, entry.unpricedCalls],
  ];
}

export function toUsageTotal(row: Row): UsageTotal {
  return {
    of: String(row.of),
    calls: integer(row, "calls"),
    inputTokens: integer(row, "input_tokens"),
    cachedInputTokens: integer(row, "cached_input_tokens"),
    cacheWriteTokens: integer(row, "cache_write_tokens"),
    outputTokens: integer(row, "output_tokens"),
    reasoningTokens: integer(row, "reasoning_tokens"),
    nanos: integer(row, "nanos"),
    unpricedCalls: integer(row, "unpriced_calls"),
  };
}
