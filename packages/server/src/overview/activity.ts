// Counts and durations over time: started, completed and failed executions per interval and workflow.
//
// Callers that see all executions get the counts that the processes keep per minute. Callers that see only their own
// get counts from the list of their executions, since the kept counts have no users; so do all callers where none are
// kept.
import type { Andante } from "@andante/core";
import { percentileOf } from "@andante/core/internal";
import type { RollupTotal } from "@andante/core/store";
import type { Value } from "../schemas/component.ts";
import type { activity } from "../schemas/overview-schemas.ts";
import { type ActivityPart, countsOfList } from "./activity-of-list.ts";

const minute = 60_000;

type Activity = Value<typeof activity>;
export type WorkflowActivity = Activity["workflows"][number];

export interface ActivityQuery {
  /** Disjoint sets of executions, counted together. */
  readonly parts: readonly ActivityPart[];
  readonly from: Date;
  readonly to: Date;
  /** Maximum number of points. */
  readonly points: number;
}

type Counted = Pick<RollupTotal, "kind" | "bucket" | "count">;

/** Throws when `signal` is aborted. */
export async function readActivity(
  andante: Andante,
  query: ActivityQuery,
  signal: AbortSignal,
): Promise<Activity> {
  await andante.ready();
  const { from, to } = wholeMinutes(query);
  const width = Math.max(1, Math.ceil((to - from) / query.points));
  const span = { from, to, width };
  const parts = await Promise.all(query.parts.map((part) => countPart(andante, part, span, signal)));
  const counted = parts.flatMap(({ overTime }) => overTime);
  const totals = parts.flatMap((part) => part.totals);
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
    answers: parts.every(({ isOfAll }) => isOfAll)
      ? { count: countOf(totals, "answered"), p50: durationsOf(totals, "answered").p50 }
      : null,
    complete: parts.every(({ complete }) => complete),
  };
}

/** In minutes since 1970. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Minutes per point. */
  readonly width: number;
}

interface CountedPart {
  readonly overTime: readonly (Counted & { readonly index: number })[];
  readonly totals: readonly (Counted & { readonly workflowId: string })[];
  /** From the counts of all users: the list of a user's executions does not have their answers. */
  readonly isOfAll: boolean;
  readonly complete: boolean;
}

async function countPart(
  andante: Andante,
  part: ActivityPart,
  { from, to, width }: Span,
  signal: AbortSignal,
): Promise<CountedPart> {
  const { rollups } = andante.live;
  if (part.userId !== undefined || rollups === undefined) {
    const span = { from: new Date(from * minute), to: new Date(to * minute) };
    const { counts, complete } = await countsOfList(andante, part, span, signal);
    const last = Math.ceil((to - from) / width) - 1;
    // An execution that started in this period may have ended after it.
    const indexAt = (at: number) => Math.min(last, Math.floor((at / minute - from) / width));
    const overTime = counts.map((each) => ({ ...each, index: indexAt(each.at) }));
    return { overTime, totals: counts, isOfAll: false, complete };
  }
  const { workflowIds = [undefined] } = part;
  const overTime: CountedPart["overTime"][number][] = [];
  const totals: CountedPart["totals"][number][] = [];
  for (const workflowId of workflowIds) {
    signal.throwIfAborted();
    const range = { workflowId, from, to };
    overTime.push(...(await rollups.overTime({ ...range, width })));
    totals.push(...(await rollups.totals({ ...range, of: "executions" })));
  }
  return { overTime, totals, isOfAll: true, complete: true };
}

/** The minutes that overlap a period, in minutes since 1970. */
export function wholeMinutes({ from, to }: Pick<ActivityQuery, "from" | "to">) {
  return { from: Math.floor(from.getTime() / minute), to: Math.ceil(to.getTime() / minute) };
}

export function countOf(totals: readonly Counted[], kind: Counted["kind"]): number {
  return totals.reduce((sum, total) => (total.kind === kind ? sum + total.count : sum), 0);
}

/** The durations of completed executions, or of another kind. */
export function durationsOf(
  totals: readonly Counted[],
  of: Counted["kind"] = "completed",
): Pick<Activity, "p50" | "p95" | "p99"> {
  const counts = new Map<number, number>();
  for (const { kind, bucket, count } of totals)
    if (kind === of) counts.set(bucket, (counts.get(bucket) ?? 0) + count);
  return {
    p50: percentileOf(counts, 0.5),
    p95: percentileOf(counts, 0.95),
    p99: percentileOf(counts, 0.99),
  };
}
