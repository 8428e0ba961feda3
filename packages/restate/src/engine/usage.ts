// Rows of usage: each object has its own, which SQL sums up. A row remembers its last writes, because a group that an
// administrator has killed half-way is sent again.
import {
  addCounts,
  mergeEntries,
  type UsageBatch,
  type UsageCounts,
  type UsageEntry,
  usageFields,
  usageKeyOf,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import { hashOf } from "./layout.ts";
import { columnsOf, field } from "./lines.ts";
import { addOnce } from "./observations.ts";

export const usageColumns = columnsOf(
  "day userId agentId workflowId model calls inputTokens cachedInputTokens cacheWriteTokens outputTokens reasoningTokens nanos unpricedCalls kept",
);

/** The writes that a row remembers: a group, which holds 200 at most, and some of others that came before it again. */
const keptWrites = 256;

/** A short mark of a write: a row keeps many. */
function markOf(write: string): string {
  return `${hashOf(write).toString(36)}${hashOf(`${write}.`).toString(36)}`;
}

interface KeptUsage {
  readonly counts: UsageCounts;
  readonly writes: readonly string[];
}

export function usageKeys(entries: readonly UsageEntry[] = []): string[] {
  return entries.map((entry) => `U/${usageKeyOf(entry)}`);
}

/** Adds entries, once for each write. */
export async function spend(cells: Cells, write: string, entries: readonly UsageEntry[]): Promise<void> {
  await cells.load(usageKeys(entries));
  const mark = markOf(write);
  for (const entry of entries) {
    const [key = ""] = usageKeys([entry]);
    const before = cells.get<KeptUsage>(key);
    if (before?.writes.includes(mark)) continue;
    const { day, userId, agentId, workflowId, model, ...own } = entry;
    const counts = before === undefined ? own : addCounts(before.counts, own);
    const kept: KeptUsage = { counts, writes: [...(before?.writes ?? []), mark].slice(-keptWrites) };
    const names = [userId, agentId, workflowId, model].map(field);
    const sums = usageFields.map((name) => counts[name]);
    cells.set(key, kept, day, ...names, ...sums);
  }
}

export const usageWrites = {
  addUsage: (cells: Cells, batch: UsageBatch): Promise<void> =>
    addOnce(cells, "usageWriters", batch, () =>
      spend(cells, `${batch.writer}.${batch.number}`, mergeEntries(batch.entries)),
    ),
};
