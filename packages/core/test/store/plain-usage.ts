// Usage of models of the store of maps.
import {
  addCounts,
  noCounts,
  type UsageBatch,
  type UsageEntry,
  type UsageQuery,
  type UsageTotal,
  usageKeyOf,
} from "../../src/store/usage-store.ts";

export function plainUsage() {
  const rows = new Map<string, UsageEntry>();
  const writers = new Map<string, number>();
  const spend = (entries: readonly UsageEntry[]): void => {
    for (const entry of entries) {
      const key = usageKeyOf(entry);
      const before = rows.get(key);
      rows.set(key, before === undefined ? entry : { ...entry, ...addCounts(before, entry) });
    }
  };
  const fits = (
    row: UsageEntry,
    { from, to, ...filters }: Omit<UsageQuery, "by" | "limit" | "offset" | "rows">,
  ) =>
    row.day >= from &&
    row.day < to &&
    (["userId", "agentId", "workflowId", "model"] as const).every(
      (name) => filters[name] === undefined || filters[name] === row[name],
    );
  return {
    spend,
    operations: {
      add: ({ writer, number, entries }: UsageBatch): void => {
        if ((writers.get(writer) ?? 0) >= number) return;
        writers.set(writer, number);
        spend(entries);
      },
      totals: ({ by, limit, offset, rows: most, ...query }: UsageQuery): UsageTotal[] => {
        const totals = new Map<string, UsageTotal>();
        const { workflowId: _w, model: _m, ...indexed } = query;
        const newest = [...rows.values()]
          .filter((row) => fits(row, indexed))
          .sort((one, other) => other.day - one.day)
          .slice(0, most);
        for (const row of newest) {
          if (!fits(row, query)) continue;
          const of = String(row[by]);
          const { day: _, userId: __, agentId: ___, workflowId: ____, model: _____, ...counts } = row;
          totals.set(of, { of, ...addCounts(counts, totals.get(of) ?? noCounts) });
        }
        const tokens = ({ inputTokens, outputTokens }: UsageTotal) => inputTokens + outputTokens;
        const inOrder = [...totals.values()].sort((a, b) =>
          by === "day"
            ? Number(b.of) - Number(a.of)
            : b.nanos - a.nanos || tokens(b) - tokens(a) || (a.of < b.of ? -1 : 1),
        );
        return inOrder.slice(offset, offset + limit);
      },
      trim: ({ before, limit }: { readonly before: number; readonly limit: number }): number => {
        const old = [...rows].filter(([, { day }]) => day < before).slice(0, limit);
        for (const [key] of old) rows.delete(key);
        return old.length;
      },
    },
  };
}
