// Groups failed executions: the same workflow, step and kind of error, with a message that differs only in ids and numbers.
import type { Andante } from "@andante/core";
import type { Value } from "../schemas/component.ts";
import type { failureGroups } from "../schemas/overview-schemas.ts";

type Summary = Awaited<ReturnType<Andante["list"]>>["executions"][number];
export type FailureGroup = Value<typeof failureGroups>["groups"][number];

export interface FailuresQuery {
  readonly workflowId?: string | undefined;
  readonly userId?: string | undefined;
  readonly from: Date;
  readonly to: Date;
}

export interface Failures {
  readonly executions: readonly Summary[];
  /** False when the limit was reached: then the oldest are missing. */
  readonly complete: boolean;
}

/** Maximum failed executions that are read. */
const most = 2000;
const pageSize = 500;
/** Maximum groups of a response. */
const mostGroups = 100;
/** Characters of a message that are compared. */
const longestMessage = 500;

/** The failed executions, newest first. Throws when `signal` is aborted. */
export async function readFailures(
  andante: Andante,
  query: FailuresQuery,
  signal: AbortSignal,
): Promise<Failures> {
  await andante.ready();
  const executions: Summary[] = [];
  let cursor: string | undefined;
  do {
    signal.throwIfAborted();
    const page = await andante.list({ ...query, status: "error", cursor, limit: pageSize });
    executions.push(...page.executions);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && executions.length < most);
  return { executions, complete: cursor === undefined };
}

/** The largest groups first. `executions` are in the order of their start, newest first. */
export function groupFailures(executions: readonly Summary[]): readonly FailureGroup[] {
  const keyOf = ({ workflowId, error }: Summary) =>
    JSON.stringify([workflowId, error?.step, error?.name, patternOf(error?.message ?? "")]);
  const groups = [...Map.groupBy(executions, keyOf).values()].flatMap((group) => groupOf(group) ?? []);
  return groups.sort((one, other) => other.count - one.count).slice(0, mostGroups);
}

function groupOf(group: readonly Summary[]): FailureGroup | undefined {
  const [newest] = group;
  if (newest === undefined) return undefined;
  const { workflowId, executionId, error } = newest;
  // ISO 8601 texts in UTC sort by time.
  const times = group.map(({ endAt, startAt }) => endAt ?? startAt).sort();
  return {
    workflowId,
    stepPath: error?.step ?? null,
    name: error?.name ?? "Error",
    message: patternOf(error?.message ?? ""),
    count: group.length,
    firstAt: times[0] ?? newest.startAt,
    lastAt: times.at(-1) ?? newest.startAt,
    executionId,
  };
}

/** The message with `#` in place of every word that contains a digit: ids, numbers, times. */
export function patternOf(message: string): string {
  return message.slice(0, longestMessage).replace(word, (each) => (/\p{N}/u.test(each) ? "#" : each));
}

/** Letters, digits and hyphens, with single points, colons, slashes and signs of addresses between them. */
const word = /[\p{L}\p{N}_-]+(?:[.:/@][\p{L}\p{N}_-]+)*/gu;
