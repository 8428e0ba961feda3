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
import { columnsOf, field, lastField, line } from "./lines.ts";

export const usageColumns = columnsOf(
  "day userId agentId workflowId model calls inputTokens cachedInputTokens cacheWriteTokens outputTokens reasoningTokens nanos unpricedCalls kept",
);

/** The writes that a row remembers. */
const keptWrites = 24;

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
  for (const entry of entries) {
    const [key = ""] = usageKeys([entry]);
    const text = lastField(cells.text(key));
    const before: KeptUsage | undefined = text === undefined ? undefined : JSON.parse(text);
    if (before?.writes.includes(write)) continue;
    const { day, userId, agentId, workflowId, model, ...own } = entry;
    const counts = before === undefined ? own : addCounts(before.counts, own);
    const kept: KeptUsage = { counts, writes: [...(before?.writes ?? []), write].slice(-keptWrites) };
    const names = [userId, agentId, workflowId, model].map(field);
    const sums = usageFields.map((name) => counts[name]);
    cells.setText(key, line(day, ...names, ...sums, JSON.stringify(kept)));
  }
}

/** Processes whose last batch is remembered. */
const keptWriters = 200;

async function addUsage(cells: Cells, { writer, number, entries }: UsageBatch): Promise<void> {
  const writers = (await cells.read<[string, number][]>("usageWriters")) ?? [];
  if ((writers.find(([each]) => each === writer)?.[1] ?? 0) >= number) return;
  const others = writers.filter(([each]) => each !== writer);
  await spend(cells, `${writer}.${number}`, mergeEntries(entries));
  cells.set("usageWriters", [...others, [writer, number]].slice(-keptWriters));
}

export const usageWrites = { addUsage };
