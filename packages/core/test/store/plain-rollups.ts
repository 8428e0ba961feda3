// Counts over time of the store of maps.
import type {
  RollupBatch,
  RollupCount,
  RollupPoint,
  RollupRange,
  RollupTotal,
  RollupTrim,
} from "../../src/store/rollup-store.ts";

export function plainRollups() {
  const counts = new Map<string, RollupCount>();
  const writers = new Map<string, number>();
  const within = ({ from, to, workflowId }: RollupRange, ofSteps: boolean) =>
    [...counts.values()].filter(
      (each) =>
        each.minute >= from &&
        each.minute < to &&
        (each.step !== "") === ofSteps &&
        (workflowId === undefined || each.workflowId === workflowId),
    );
  return {
    add: ({ writer, number, counts: added }: RollupBatch): void => {
      if ((writers.get(writer) ?? 0) >= number) return;
      writers.set(writer, number);
      for (const each of added) {
        const { count, ...place } = each;
        const key = JSON.stringify(place);
        counts.set(key, { ...each, count: count + (counts.get(key)?.count ?? 0) });
      }
    },
    overTime: ({ width, ...range }: RollupRange & { readonly width: number }): RollupPoint[] =>
      summed(
        within(range, false).map(({ minute, kind, bucket, count }) => ({
          index: Math.floor((minute - range.from) / width),
          kind,
          bucket,
          count,
        })),
      ),
    totals: (query: RollupRange & { readonly of: "executions" | "steps" }): RollupTotal[] =>
      summed(within(query, query.of === "steps").map(({ minute: _, ...total }) => total)),
    trim: ({ executions, steps, limit }: RollupTrim): number => {
      const old = [false, true].flatMap((ofSteps) =>
        within({ from: Number.NEGATIVE_INFINITY, to: ofSteps ? steps : executions }, ofSteps)
          .sort((a, b) => a.minute - b.minute)
          .slice(0, limit),
      );
      for (const { count: _, ...place } of old) counts.delete(JSON.stringify(place));
      return old.length;
    },
  };
}

/** Adds up the counts of rows that are equal otherwise. */
function summed<Row extends { readonly count: number }>(rows: readonly Row[]): Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify({ ...row, count: 0 });
    sums.set(key, { ...row, count: row.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()];
}
