// Counts and durations over time: what started, completed and failed in each stretch, by workflow.
//
// Callers who see everything get the counts that the processes keep per minute. Whoever sees only its own gets them from
// the list of its executions, since counts know no users; and so does everybody where none are kept.
import type { Andante } from "@andante/core";
import { internalsOf, percentileOf } from "@andante/core/internal";
import type { RollupTotal } from "@andante/core/store";
import { activityOfList } from "./activity-of-list.ts";
import type { Activity, ActivityQuery, Durations } from "./activity-shapes.ts";

const minute = 60_000;

type Counted = Pick<RollupTotal, "kind" | "bucket" | "count">;

/** Throws when `signal` is aborted meanwhile. */
export async function readActivity(
  andante: Andante,
  query: ActivityQuery,
  signal: AbortSignal,
): Promise<Activity> {
  const { rollups } = internalsOf(andante).live;
  if (query.userId !== undefined || rollups === undefined) return activityOfList(andante, query, signal);
  await andante.ready();
  const { workflowId, workflowIds = [workflowId] } = query;
  const { from, to } = wholeMinutes(query);
  const width = Math.max(1, Math.ceil((to - from) / query.points));
  const ranges = workflowIds.map((id) => ({ workflowId: id, from, to }));
  const [counted, totals] = await Promise.all([
    Promise.all(ranges.map((range) => rollups.overTime({ ...range, width }))).then((each) => each.flat()),
    Promise.all(ranges.map((range) => rollups.totals({ ...range, of: "executions" }))).then((each) =>
      each.flat(),
    ),
  ]);
  const byPoint = Map.groupBy(counted, ({ index }) => index);
  const points = Array.from({ length: Math.ceil((to - from) / width) }, (_, index) => {
    const some = byPoint.get(index) ?? [];
    return {
      at: new Date((from + index * width) * minute).toISOString(),
      started: countOf(some, "started"),
      completed: countOf(some, "completed"),
      failed: countOf(some, "failed"),
      suspended: countOf(some, "suspended"),
      cancelled: countOf(some, "cancelled"),
      p50: durationsOf(some).p50,
    };
  });
  const byWorkflow = Map.groupBy(totals, (total) => total.workflowId);
  return {
    from: new Date(from * minute).toISOString(),
    to: new Date(to * minute).toISOString(),
    points,
    workflows: [...byWorkflow].map(([id, some]) => ({
      workflowId: id,
      started: countOf(some, "started"),
      completed: countOf(some, "completed"),
      failed: countOf(some, "failed"),
      ...durationsOf(some),
    })),
    ...durationsOf(totals),
    complete: true,
  };
}

/** The minutes that a time touches, counted from 1970. */
export function wholeMinutes({ from, to }: Pick<ActivityQuery, "from" | "to">) {
  return { from: Math.floor(from.getTime() / minute), to: Math.ceil(to.getTime() / minute) };
}

export function countOf(totals: readonly Counted[], kind: Counted["kind"]): number {
  return totals.reduce((sum, total) => (total.kind === kind ? sum + total.count : sum), 0);
}

/** Of those that completed. */
export function durationsOf(totals: readonly Counted[]): Durations {
  const counts = new Map<number, number>();
  for (const { kind, bucket, count } of totals)
    if (kind === "completed") counts.set(bucket, (counts.get(bucket) ?? 0) + count);
  return {
    p50: percentileOf(counts, 0.5),
    p95: percentileOf(counts, 0.95),
    p99: percentileOf(counts, 0.99),
  };
}
