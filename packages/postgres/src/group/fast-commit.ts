// Commits that find their execution as this process left it: one statement checks the fence and writes, nothing is read
// before.
//
// Nearly all commits are such. Every other case (another owner, a pause, an open suspension, an event of another writer,
// the same commit again) changes nothing here, and is decided on the locked row instead.

import {
  type Commit,
  type CommitResult,
  endTime,
  isPlain,
  resultOf,
  rowText,
  writeKey,
} from "@andante/core/store";
import type { Statement } from "../connection/parameters.ts";

export interface FastCommit {
  readonly commit: Commit;
  resolve(result: CommitResult): void;
}

/** Whether it changes nothing but the row and the journal. */
export function canBeFast(commit: Commit): boolean {
  const { open, timers, clear, idle } = commit;
  return open.length + timers.length + clear.length === 0 && idle === null && isPlain(commit);
}

/** The columns of the parameters, with their types. */
const columns: readonly (readonly [column: string, type: string])[] = [
  ["execution_id", "text"],
  ["token", "text"],
  ["number", "bigint"],
  ["before", "bigint"],
  ["sequence", "bigint"],
  ["step_index", "integer"],
  ["progress", "boolean"],
  ["events", "text"],
  ["write_key", "text"],
  ["status", "text"],
  ["end_at", "bigint"],
  ["result", "text"],
  ["result_at", "bigint"],
  ["error", "text"],
];

const names = columns.map(([name]) => name).join(", ");
const arrays = columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ");

// An execution without an open suspension that is neither paused nor ended is running: the status is its own.
export const fastStatement = (s: string) => `with given as (
    select * from unnest(${arrays}) as given (${names})),
  moved as (
    update ${s}.executions set commits = given.number, sequence = given.sequence, step_index = given.step_index,
      recoveries = case when given.progress then 0 else executions.recoveries end, status = given.status,
      end_at = given.end_at, result = given.result, result_at = given.result_at, error = given.error,
      owner = case when given.end_at is null then executions.owner end,
      token = case when given.end_at is null then executions.token end
    from given
    where executions.execution_id = given.execution_id and executions.token = given.token
      and executions.commits = given.number - 1 and executions.sequence = given.before
      and not executions.paused and executions.open_suspensions = 0 and executions.end_at is null
      and (given.end_at is null or executions.links is null)
    returning executions.execution_id),
  written as (
    insert into ${s}.journal (execution_id, sequence, events, write_key)
    select execution_id, given.sequence, events, write_key from given join moved using (execution_id)
    where events is not null),
  queued as (
    insert into ${s}.search_queue (execution_id)
    select execution_id from given join moved using (execution_id) where given.end_at is not null)
  select execution_id from moved`;

/** Whether it is as its owner knows it: an owner that knows of later events has read them from a store that had them. */
export function isExpected({ commit: { after = 0 } }: FastCommit, before: number): boolean {
  return after <= before;
}

export interface ExpectedCommit {
  readonly fast: FastCommit;
  /** The number of the last event before it. */
  readonly before: number;
}

/** Writes those that find their execution as expected, and returns their ids. The commits must be in the order of their ids. */
export function fastCommits(s: string, expected: readonly ExpectedCommit[]): Statement {
  const rows = expected.map(valuesOf);
  const byColumn = columns.map((_, index) => rows.map((row) => row[index]));
  return [fastStatement(s), byColumn];
}

function valuesOf({ fast: { commit }, before }: ExpectedCommit): unknown[] {
  const { executionId, token, number, stepIndex, progress, following, end } = commit;
  const events = [...commit.events, ...following];
  const sequence = before + events.length;
  const journal = events.length === 0 ? null : rowText(before, events);
  const key = writeKey(commit, "ok", false);
  const common = [executionId, token, number, before, sequence, stepIndex];
  if (end === null) return [...common, progress, journal, key, "running", null, null, null, null];
  const { result, resultAt } = resultOf(end.result, sequence);
  return [...common, true, journal, key, end.status, endTime(commit), result, resultAt, end.error];
}

/** The number of the last event after it. */
export function sequenceAfter({ fast: { commit }, before }: ExpectedCommit): number {
  return before + commit.events.length + commit.following.length;
}
