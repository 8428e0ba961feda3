// A commit: checks the claim, appends events, opens and closes suspensions, moves the record on or ends it.
import { isBelow } from "../../values/step-path.ts";
import { hasLost } from "../has-lost.ts";
import type { Commit, CommitResult } from "../store.ts";
import type { WrittenEvent } from "../stored-event.ts";
import { sumUsage } from "../usage.ts";
import { append, type Changes } from "./changes.ts";
import type { Decision } from "./decision.ts";
import type { Facts } from "./facts.ts";
import { announceEnd, earlyPaths, withChildren, withEarlyPaths } from "./links.ts";
import { type ExecutionRecord, releaseClaim } from "./record.ts";
import { recordedCommit, requestRecordedCommit, writeKey } from "./recorded-commit.ts";

export const commit: Decision<Commit, CommitResult> = {
  request(argument, record, requests) {
    if (record === undefined) return;
    const { executionId, others } = argument;
    requestRecordedCommit(argument, record, requests);
    if (others !== undefined) requests.timeOf(executionId, others.sequence);
    if (record.openSuspensions > 0) requests.below(executionId, stepsToClose(argument, record.paused));
  },

  decide(argument, record, facts, changes) {
    if (record === undefined) return refusal("fenced");
    const first = recordedCommit(argument, record, facts);
    if (first !== undefined) return first;
    if (record.endAt !== null) return refusal("ended");
    if (record.token !== argument.token) return refusal("fenced");
    const { executionId, others, usage, spent = [], charges = [], end } = argument;
    const time = others && facts.timeOf(executionId, others.sequence);
    if (hasLost(argument, record, time)) return refusal("lost");
    record.commits = argument.number;
    if (argument.hasChildren) record.links = withChildren(record.links);
    if (usage !== null) record.usage = sumUsage(record.usage, usage);
    for (const change of argument.facts ?? []) changes.remember(change);
    if (argument.sends !== undefined) changes.keepWork(argument.sends);
    if (spent.length > 0) changes.spend(writeKey(argument, "ok", false), spent);
    if (charges.length > 0) changes.charge(charges);
    const result = record.paused
      ? recordPaused(argument, record, facts, changes)
      : end === null
        ? advance(argument, record, facts, changes)
        : finish(argument, end, record, changes);
    changes.update(record);
    return result;
  },
};

function refusal(kind: "fenced" | "ended" | "lost"): CommitResult {
  return { kind, sequence: 0, idle: false };
}

/** Nothing new may start: only outcomes and the suspensions that they open and close are recorded. */
function recordPaused(
  argument: Commit,
  record: ExecutionRecord,
  facts: Facts,
  changes: Changes,
): CommitResult {
  moveSuspensions(argument, record, facts, changes);
  record.status = "suspended";
  if (argument.progress) record.recoveries = 0;
  return write(argument, record, argument.events, "paused", changes);
}

function advance(argument: Commit, record: ExecutionRecord, facts: Facts, changes: Changes): CommitResult {
  const { executionId, timers, clear } = argument;
  moveSuspensions(argument, record, facts, changes);
  for (const path of clear) changes.clearTimer(executionId, path);
  for (const timer of timers) changes.setTimer(executionId, timer);
  record.status = record.openSuspensions > 0 ? "suspended" : "running";
  record.stepIndex = argument.stepIndex;
  if (argument.progress) record.recoveries = 0;
  return write(argument, record, [...argument.events, ...argument.following], "ok", changes);
}

function stepsToClose({ closeEnded = [], closeBelow }: Commit, paused: boolean): readonly string[] {
  return paused ? closeEnded : [...closeEnded, ...closeBelow];
}

/** Opens and closes suspensions; one that the same commit closes is not opened. */
function moveSuspensions(argument: Commit, record: ExecutionRecord, facts: Facts, changes: Changes): void {
  const { executionId, open } = argument;
  const ended = stepsToClose(argument, record.paused);
  const closed = record.openSuspensions > 0 && ended.length > 0 ? facts.below(executionId, ended) : [];
  const isClosed = (path: string) => ended.some((step) => path === step || isBelow(path, step));
  const early = takeEarly(argument, record);
  const staying = open.filter(({ path }) => path === null || !(isClosed(path) || early.includes(path)));
  if (closed.length > 0) changes.close(closed);
  for (const suspension of staying) changes.open(executionId, suspension, record.paused);
  for (const { row, suspensionId } of argument.deliveries ?? [])
    if (staying.some((each) => each.suspensionId === suspensionId)) changes.deliver(row);
  record.openSuspensions += staying.length - closed.length;
}

/** The paths of decisions that were made before their steps waited. Those that the commit uses up are removed. */
function takeEarly({ open, takes = [] }: Commit, record: ExecutionRecord): readonly string[] {
  const paths = earlyPaths(record.links);
  const isUsed = (path: string) =>
    takes.includes(path) || open.some((suspension) => suspension.path === path);
  const left = paths.filter((path) => !isUsed(path));
  if (left.length < paths.length) record.links = withEarlyPaths(record.links, left);
  return paths;
}

/** Releases the claim if the owner asks for it and knows of every resume, and writes the events. */
function write(
  argument: Commit,
  record: ExecutionRecord,
  outcomes: readonly WrittenEvent[],
  kind: "ok" | "paused",
  changes: Changes,
): CommitResult {
  const request = argument.idle;
  const idle = request !== null && request.resumes === record.resumes;
  if (idle) {
    releaseClaim(record);
    record.idle = true;
  }
  const events = idle && request.event !== null ? [...outcomes, request.event] : outcomes;
  append(record, events, writeKey(argument, kind, idle), changes);
  return { kind, sequence: record.sequence, idle };
}

function finish(
  argument: Commit,
  { status, result, error }: NonNullable<Commit["end"]>,
  record: ExecutionRecord,
  changes: Changes,
): CommitResult {
  const { executionId, following } = argument;
  if (record.openSuspensions > 0) changes.closeAll(executionId);
  if (argument.clear.length > 0 || argument.timers.length > 0) changes.clearTimers(executionId);
  append(record, [...argument.events, ...following], writeKey(argument, "ok", false), changes);
  record.status = status;
  record.endAt = endTime(argument);
  record.openSuspensions = 0;
  record.stepIndex = argument.stepIndex;
  record.recoveries = 0;
  releaseClaim(record);
  announceEnd(record, changes);
  for (const { row } of argument.deliveries ?? []) changes.deliver(row);
  changes.end(executionId, { ...resultOf(result, record.sequence), error });
  return { kind: "ok", sequence: record.sequence, idle: false };
}

/** The time at which a commit with an `end` ends the execution. */
export function endTime({ following }: Commit): number {
  return following.at(-1)?.timestamp ?? Date.now();
}

/** The columns of a result: a long one is the value of the last event, whose number is `sequence`. */
export function resultOf(result: NonNullable<Commit["end"]>["result"], sequence: number) {
  return typeof result === "string" || result === null
    ? { result, resultAt: null }
    : { result: null, resultAt: sequence };
}
