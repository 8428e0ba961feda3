// Counts and durations over time, read from the list of executions. Of more than `most` only the newest are counted, and
// the response says so.
import type { Andante } from "@andante/core";
import type {
  Activity,
  ActivityPoint,
  ActivityQuery,
  Durations,
  WorkflowActivity,
} from "./activity-shapes.ts";

type Summary = Awaited<ReturnType<Andante["list"]>>["executions"][number];

/** Executions that are counted at most: about 100 ms of a reader thread. */
const most = 10_000;
const pageSize = 500;

export async function activityOfList(
  andante: Andante,
  query: ActivityQuery,
  signal: AbortSignal,
): Promise<Activity> {
  const { from, to, points: count, userId, workflowId, workflowIds } = query;
  const found: Summary[] = [];
  let cursor: string | undefined;
  let read = 0;
  do {
    signal.throwIfAborted();
    const filter = { from, to, userId, workflowId, cursor, limit: pageSize };
    const page = await andante.list(filter);
    read += page.executions.length;
    found.push(...page.executions.filter((each) => workflowIds?.includes(each.workflowId) ?? true));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && read < most);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    points: pointsOf(found, from.getTime(), to.getTime(), count),
    workflows: workflowsOf(found),
    ...durationsOf(found),
    complete: cursor === undefined,
  };
}

function pointsOf(found: readonly Summary[], from: number, to: number, count: number): ActivityPoint[] {
  const width = (to - from) / count;
  const points = Array.from({ length: count }, (_, index) => ({
    at: new Date(from + index * width).toISOString(),
    ...{ started: 0, completed: 0, failed: 0, suspended: 0, cancelled: 0 },
  }));
  const indexAt = (time: string) => {
    const index = Math.floor((Date.parse(time) - from) / width);
    return Math.min(count - 1, Math.max(0, index));
  };
  const pointAt = (time: string) => points[indexAt(time)];
  for (const { startAt, endAt, status } of found) {
    const start = pointAt(startAt);
    if (start !== undefined) start.started += 1;
    // One that ended is counted where it ended; one that waits, where it started: when it began to is not in the list.
    const point = pointAt(endAt ?? startAt);
    if (point === undefined) continue;
    if (status === "completed") point.completed += 1;
    else if (status === "error") point.failed += 1;
    else if (status === "suspended") point.suspended += 1;
    else if (status === "cancelled") point.cancelled += 1;
  }
  const byPoint = Map.groupBy(found, ({ startAt, endAt }) => indexAt(endAt ?? startAt));
  return points.map((point, index) => ({ ...point, p50: durationsOf(byPoint.get(index) ?? []).p50 }));
}

function workflowsOf(found: readonly Summary[]): WorkflowActivity[] {
  const groups = Map.groupBy(found, ({ workflowId }) => workflowId);
  return [...groups].map(([workflowId, executions]) => ({
    workflowId,
    started: executions.length,
    completed: executions.filter(({ status }) => status === "completed").length,
    failed: executions.filter(({ status }) => status === "error").length,
    ...durationsOf(executions),
  }));
}

function durationsOf(executions: readonly Summary[]): Durations {
  const durations = executions
    .filter(({ status, endAt }) => status === "completed" && endAt !== null)
    .map(({ startAt, endAt }) => Date.parse(endAt ?? startAt) - Date.parse(startAt))
    .sort((one, other) => one - other);
  const at = (share: number) =>
    durations[Math.min(durations.length - 1, Math.floor(share * durations.length))] ?? null;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
