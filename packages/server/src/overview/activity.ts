// Counts and durations over time: what started, completed and failed in each of the last minutes, by workflow.
//
// It is read from the list of executions when somebody asks, so it costs a commit nothing, needs nothing of the store and
// survives a restart. Of more executions than `most` only the newest are counted, and the response says so.
import type { Andante } from "@andante/core";

type Summary = Awaited<ReturnType<Andante["list"]>>["executions"][number];

/** One stretch of time. */
export interface ActivityPoint {
  /** When it began. */
  readonly at: string;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
  readonly suspended: number;
  readonly cancelled: number;
}

export interface WorkflowActivity extends Durations {
  readonly workflowId: string;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
}

interface Durations {
  /** Milliseconds from start to end of those that completed; null when none has. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface Activity extends Durations {
  readonly from: string;
  readonly to: string;
  readonly points: readonly ActivityPoint[];
  readonly workflows: readonly WorkflowActivity[];
  /** False when there were more executions than are counted: then the oldest are missing. */
  readonly complete: boolean;
}

export interface ActivityQuery {
  readonly userId?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly from: Date;
  readonly to: Date;
  /** How many points. */
  readonly points: number;
}

/** Executions that are counted at most: about 100 ms of a reader thread. */
const most = 10_000;
const pageSize = 500;

export async function readActivity(andante: Andante, query: ActivityQuery): Promise<Activity> {
  const { from, to, points: count, userId, workflowId } = query;
  const found: Summary[] = [];
  let cursor: string | undefined;
  do {
    const filter = { from, to, userId, workflowId, cursor, limit: pageSize };
    const page = await andante.list(filter);
    found.push(...page.executions);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && found.length < most);
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
  for (const execution of found) {
    const index = Math.floor((Date.parse(execution.startAt) - from) / width);
    const point = points[Math.min(count - 1, Math.max(0, index))];
    if (point === undefined) continue;
    point.started += 1;
    if (execution.status === "completed") point.completed += 1;
    else if (execution.status === "error") point.failed += 1;
    else if (execution.status === "suspended") point.suspended += 1;
    else if (execution.status === "cancelled") point.cancelled += 1;
  }
  return points;
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
