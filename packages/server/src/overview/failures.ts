// Groups failed executions: the same workflow, step and kind of error, with a message that differs only in ids and numbers.
import type { Andante } from "@andante/core";
import type { Value } from "../schemas/component.ts";
import type { failureGroups } from "../schemas/overview-schemas.ts";
import { type ListedExecution, pagesOfList } from "./activity-of-list.ts";

export type FailureGroup = Value<typeof failureGroups>["groups"][number];

export interface FailuresQuery {
  readonly workflowId?: string | undefined;
  readonly userId?: string | undefined;
  readonly from: Date;
  readonly to: Date;
}

/** The fields of a failed execution that a group needs: a cached read holds thousands of them. */
export interface Failed extends Omit<FailureGroup, "count" | "firstAt" | "lastAt"> {
  readonly userId: string | null;
  readonly conversationId: string | null;
  /** ISO 8601. */
  readonly at: string;
}

export interface Failures {
  /** Newest first. */
  readonly failed: readonly Failed[];
  /** False when the limit was reached: then the oldest are missing. */
  readonly complete: boolean;
}

/** Maximum failed executions that are read. */
export const mostFailures = 2000;
/** Maximum groups of a response. */
const mostGroups = 100;
/** Characters of a name or message that are compared. */
const longestText = 500;

/** Throws when `signal` is aborted. */
export async function readFailures(
  andante: Andante,
  query: FailuresQuery,
  signal: AbortSignal,
): Promise<Failures> {
  await andante.ready();
  const failed: Failed[] = [];
  let complete = true;
  for await (const page of pagesOfList(andante, { ...query, status: "error" }, mostFailures, signal)) {
    failed.push(...page.executions.map(failedOf));
    complete = page.nextCursor === null;
  }
  return { failed, complete };
}

export function failedOf(execution: ListedExecution): Failed {
  const { executionId, workflowId, userId, conversationId, startAt, endAt, error } = execution;
  return {
    ...{ executionId, workflowId, userId, conversationId, at: endAt ?? startAt },
    stepPath: error?.step ?? null,
    name: (error?.name ?? "Error").slice(0, longestText),
    message: patternOf(error?.message ?? ""),
  };
}

/** The largest groups first. */
export function groupFailures(failed: readonly Failed[]): readonly FailureGroup[] {
  const keyOf = ({ workflowId, stepPath, name, message }: Failed) =>
    JSON.stringify([workflowId, stepPath, name, message]);
  const groups = [...Map.groupBy(failed, keyOf).values()].flatMap((group) => groupOf(group) ?? []);
  return groups.sort((one, other) => other.count - one.count).slice(0, mostGroups);
}

function groupOf(group: readonly Failed[]): FailureGroup | undefined {
  const [newest] = group;
  if (newest === undefined) return undefined;
  const { userId: _, conversationId: __, at, ...common } = newest;
  // ISO 8601 texts in UTC sort by time.
  const times = group.map((each) => each.at).sort();
  return { ...common, count: group.length, firstAt: times[0] ?? at, lastAt: times.at(-1) ?? at };
}

/** The message with `#` in place of every word that contains a digit: ids, numbers, times. */
export function patternOf(message: string): string {
  return message.slice(0, longestText).replace(word, (each) => (/\p{N}/u.test(each) ? "#" : each));
}

/** Letters, digits and hyphens, with single points, colons, slashes and signs of addresses between them. */
const word = /[\p{L}\p{N}_-]+(?:[.:/@][\p{L}\p{N}_-]+)*/gu;
