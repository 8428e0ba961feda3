// The heart of the store: checks the fence, appends events, changes the row, opens and closes suspensions.
import { isBelow } from "@andante/core/internal";
import { type Commit, type CommitResult, hasLost, sumUsage, type WrittenEvent } from "@andante/core/store";
import { readUsage } from "../columns.ts";
import type { Changes } from "../write/changes.ts";
import type { Facts } from "../write/facts.ts";
import type { GroupOperation } from "../write/operation.ts";
import type { LockedRow } from "../write/row.ts";
import { askRecordedCommit, recordedCommit, writeKey } from "./recorded-commit.ts";

export const commit: GroupOperation<Commit, CommitResult> = {
  ask(argument, row, facts) {
    if (row === undefined) return;
    askRecordedCommit(argument, row, facts);
    if (argument.others !== undefined) facts.askTime(argument.executionId, argument.others.sequence);
    if (row.openSuspensions > 0) facts.askBelow(argument.executionId, stepsToClose(argument, row.paused));
  },

  decide(argument, row, facts, changes) {
    if (row === undefined) return { kind: "fenced", sequence: 0, idle: false };
    const first = recordedCommit(argument, row, facts);
    if (first !== undefined) return first;
    if (row.endAt !== null) return { kind: "ended", sequence: 0, idle: false };
    if (row.token !== argument.token) return { kind: "fenced", sequence: 0, idle: false };
    if (hasLost(argument, row, facts.time(argument.executionId)))
      return { kind: "lost", sequence: 0, idle: false };
    row.commits = argument.number;
    if (argument.usage !== null) row.usage = JSON.stringify(sumUsage(readUsage(row.usage), argument.usage));
    changes.row(row);
    if (row.paused) return recordPaused(argument, row, facts, changes);
    return argument.end === null
      ? advance(argument, row, facts, changes)
      : end(argument, argument.end, row, changes);
  },
};

/** Nothing new may start: only outcomes and the suspensions that they open and close are recorded. */
function recordPaused(argument: Commit, row: LockedRow, facts: Facts, changes: Changes): CommitResult {
  moveSuspensions(argument, row, facts, changes);
  row.status = "suspended";
  if (argument.progress) row.recoveries = 0;
  return finish(argument, row, [...argument.events], "paused", changes);
}

function advance(argument: Commit, row: LockedRow, facts: Facts, changes: Changes): CommitResult {
  const { executionId, timers, clear } = argument;
  moveSuspensions(argument, row, facts, changes);
  for (const path of clear) changes.clearTimer(executionId, path);
  for (const timer of timers) changes.setTimer(executionId, timer);
  row.status = row.openSuspensions > 0 ? "suspended" : "running";
  row.stepIndex = argument.stepIndex;
  if (argument.progress) row.recoveries = 0;
  return finish(argument, row, [...argument.events, ...argument.following], "ok", changes);
}

function stepsToClose({ closeEnded = [], closeBelow }: Commit, paused: boolean): readonly string[] {
  return paused ? closeEnded : [...closeEnded, ...closeBelow];
}

/** Opens and closes suspensions; one that the same commit closes is not opened. */
function moveSuspensions(argument: Commit, row: LockedRow, facts: Facts, changes: Changes): void {
  const { executionId, open } = argument;
  const closed = facts.below(executionId);
  const ended = stepsToClose(argument, row.paused);
  const isOver = (path: string) => ended.some((step) => path === step || isBelow(path, step));
  const staying = open.filter(({ path }) => path === null || !isOver(path));
  changes.close(closed);
  for (const suspension of staying) changes.open(executionId, suspension, row.paused);
  row.openSuspensions += staying.length - closed.length;
}

/** Lets go of the claim, if that is asked for and no resume has come meanwhile, and writes the events. */
function finish(
  argument: Commit,
  row: LockedRow,
  events: WrittenEvent[],
  kind: "ok" | "paused",
  changes: Changes,
): CommitResult {
  const idle = argument.idle !== null && argument.idle.resumes === row.resumes;
  if (idle) {
    if (argument.idle.event !== null) events.push(argument.idle.event);
    row.owner = null;
    row.token = null;
    row.idle = true;
  }
  changes.append(row, events, writeKey(argument, kind, idle));
  return { kind, sequence: row.sequence, idle };
}

function end(
  argument: Commit,
  { status, result, error }: NonNullable<Commit["end"]>,
  row: LockedRow,
  changes: Changes,
): CommitResult {
  const { executionId, following } = argument;
  if (row.openSuspensions > 0) changes.closeAll(executionId);
  if (argument.clear.length > 0 || argument.timers.length > 0) changes.clearTimers(executionId);
  changes.append(row, [...argument.events, ...following], writeKey(argument, "ok", false));
  row.status = status;
  row.endAt = following.at(-1)?.timestamp ?? Date.now();
  row.openSuspensions = 0;
  row.stepIndex = argument.stepIndex;
  row.owner = null;
  row.token = null;
  row.recoveries = 0;
  const isLong = typeof result === "object" && result !== null;
  changes.end(executionId, {
    result: typeof result === "string" ? result : null,
    resultAt: isLong ? row.sequence : null,
    error,
  });
  return { kind: "ok", sequence: row.sequence, idle: false };
}
