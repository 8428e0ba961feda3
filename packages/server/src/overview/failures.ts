// Groups failed executions: the same workflow, step and kind of error, with a message that differs only in ids and numbers.
import { createHash } from "node:crypto";
import type { Andante } from "@andante/core";
import { readFailure } from "@andante/core/internal";
import type { ListedExecution } from "@andante/core/store";
import type { Value } from "../schemas/component.ts";
import type { failureGroups } from "../schemas/overview-schemas.ts";

export type FailureGroup = Value<typeof failureGroups>["groups"][number];

export interface FailuresQuery {
  readonly workflowId?: string | undefined;
  readonly userId?: string | undefined;
  readonly from: Date;
  readonly to: Date;
}

/** The fields of a failed execution that a group needs: a cached read holds thousands of them. */
export interface Failed extends Pick<FailureGroup, "workflowId" | "stepPath" | "name" | "message"> {
  readonly executionId: string;
  readonly userId: string | null;
  readonly conversationId: string | null;
  /** The definition that it began with, or last continued with; null when that is not known. */
  readonly definition: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Failures {
  /** Newest first. */
  readonly failed: readonly Failed[];
  /** False when the limit was reached: then the oldest are missing. */
  readonly complete: boolean;
}

/** Maximum failed executions that are read. */
export const mostFailures = 2000;
const pageSize = 500;
/** Maximum groups of a response. */
const mostGroups = 100;
/** Maximum executions and definitions of a group that are named, the newest. */
const mostExecutions = 100;
const mostDefinitions = 20;
/** Characters of a name or message that are compared. */
const longestText = 500;

/** Throws when `signal` is aborted. */
export async function readFailures(
  andante: Andante,
  { from, to, ...query }: FailuresQuery,
  signal: AbortSignal,
): Promise<Failures> {
  await andante.ready();
  // The list for callers has no definitions.
  const asked = { ...query, status: "error", from: from.getTime(), to: to.getTime() } as const;
  const failed: Failed[] = [];
  let before: ListedExecution | undefined;
  do {
    signal.throwIfAborted();
    // One more than are returned: then the result is not complete.
    const limit = Math.min(pageSize, mostFailures + 1 - failed.length);
    const rows = await andante.store.list({ ...asked, before, limit });
    failed.push(...rows.map(failedOf));
    // A page of long rows ends earlier: only an empty one is the last.
    before = rows.at(-1);
  } while (before !== undefined && failed.length <= mostFailures);
  return { failed: failed.slice(0, mostFailures), complete: failed.length <= mostFailures };
}

type FailedRow = Pick<
  ListedExecution,
  "executionId" | "workflowId" | "userId" | "conversationId" | "definition" | "startAt" | "endAt" | "error"
>;

export function failedOf(row: FailedRow): Failed {
  const { executionId, workflowId, userId, conversationId, definition, startAt, endAt } = row;
  const { step = null, name, message } = readFailure(row.error ?? "{}");
  return {
    ...{ executionId, workflowId, userId, conversationId, definition, at: endAt ?? startAt },
    stepPath: step,
    name: name.slice(0, longestText),
    message: patternOf(message),
  };
}

/** The largest groups first; with an id, that group alone with its executions. */
export function groupFailures(failed: readonly Failed[], id?: string): readonly FailureGroup[] {
  const groups = [...Map.groupBy(failed, keyOf)].map(([key, all]) => ({ id: idOf(key), all }));
  if (id !== undefined)
    return groups.filter((group) => group.id === id).flatMap((group) => groupOf(group, true));
  const largest = groups.sort((one, other) => other.all.length - one.all.length).slice(0, mostGroups);
  return largest.flatMap((group) => groupOf(group, false));
}

function keyOf({ workflowId, stepPath, name, message }: Failed): string {
  return JSON.stringify([workflowId, stepPath, name, message]);
}

function idOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 16);
}

function groupOf(
  { id, all }: { readonly id: string; readonly all: readonly Failed[] },
  isListed: boolean,
): FailureGroup[] {
  const byTime = all.toSorted((one, other) => other.at - one.at);
  const [newest] = byTime;
  if (newest === undefined) return [];
  const { workflowId, stepPath, name, message, executionId, at } = newest;
  const definitions = new Set(byTime.flatMap(({ definition }) => definition ?? []));
  const group = {
    ...{ id, workflowId, stepPath, name, message, count: all.length, executionId },
    ...{ firstAt: timeOf(byTime.at(-1)?.at ?? at), lastAt: timeOf(at) },
    definitions: [...definitions].slice(0, mostDefinitions),
  };
  if (!isListed) return [group];
  const executions = byTime
    .slice(0, mostExecutions)
    .map(({ executionId, at, definition }) => ({ executionId, at: timeOf(at), definition }));
  return [{ ...group, executions }];
}

function timeOf(time: number): string {
  return new Date(time).toISOString();
}

/** The message with `#` in place of every word that contains a digit: ids, numbers, times. */
export function patternOf(message: string): string {
  return message.slice(0, longestText).replace(word, (each) => (/\p{N}/u.test(each) ? "#" : each));
}

/** Letters, digits and hyphens, with single points, colons, slashes and signs of addresses between them. */
const word = /[\p{L}\p{N}_-]+(?:[.:/@][\p{L}\p{N}_-]+)*/gu;
