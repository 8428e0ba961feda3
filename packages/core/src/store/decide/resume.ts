// Resumes open suspensions: one conditional write, so of many simultaneous resumes exactly one is accepted.
import { inTime } from "../in-time.ts";
import { numbered } from "../sql/journal-row.ts";
import type { Resume, ResumeResult } from "../store.ts";
import { append, type Changes } from "./changes.ts";
import type { Decision } from "./decision.ts";
import type { Facts } from "./facts.ts";
import { earlyPaths, withEarlyPaths } from "./links.ts";
import { type ExecutionRecord, giveClaim } from "./record.ts";
import { ownedKey, recordedWrite, requestRecordedWrite } from "./recorded-write.ts";

export const resume: Decision<Resume, ResumeResult> = {
  request({ executionId, suspensionIds, claim, early }, record, requests) {
    if (record === undefined) return;
    if (early !== undefined) requests.below(executionId, [early.path]);
    requests.openSuspensions(suspensionIds);
    requests.timeOf(executionId, record.sequence);
    requestRecordedWrite(executionId, claim.token, requests);
    if (record.owner !== null) requests.isAlive(record.owner);
  },

  decide(argument, record, facts, changes) {
    if (record === undefined || (argument.byDeadline && record.paused)) return { kind: "refused" };
    if (argument.early !== undefined) return keep(argument, argument.early, record, facts, changes);
    const { executionId, suspensionIds, rewind, claim, pausedFor } = argument;
    const waiting = suspensionIds.map((id) => facts.openSuspension(id));
    const allOpen = waiting.every((suspension) => suspension?.executionId === executionId);
    const lastAt = facts.timeOf(executionId, record.sequence) ?? 0;
    // By its time too: a failover may have lost events, and other writers may have written as many since.
    const { last: known = { sequence: record.sequence, at: lastAt } } = argument;
    const changed = known.sequence !== record.sequence || known.at !== lastAt;
    if (changed || record.status !== "suspended" || !allOpen) {
      const first = recordedWrite(executionId, claim.token, facts);
      if (first === undefined) return { kind: "refused" };
      return { kind: first.owned ? "owned" : "claimed", events: first.events };
    }
    if (argument.note !== undefined) changes.keepWork([argument.note]);
    const liftsPause = rewind !== null || waiting.some((suspension) => suspension?.path === null);
    if (rewind === null) {
      changes.close(suspensionIds);
      if (liftsPause) changes.hold(executionId, false);
      record.openSuspensions -= suspensionIds.length;
    } else {
      changes.closeAll(executionId);
      changes.clearTimers(executionId);
      record.openSuspensions = 0;
      record.stepIndex = rewind.stepIndex;
      record.links = withEarlyPaths(record.links, []);
    }
    const takes = rewind !== null || !isOwned(record, claim.owner, facts);
    const last = record.sequence;
    const events = inTime(argument.events, lastAt);
    append(record, events, takes ? claim.token : ownedKey(claim.token), changes);
    record.status = record.openSuspensions > 0 ? "suspended" : "running";
    if (liftsPause) record.paused = false;
    record.resumes += events.length;
    if (takes) {
      giveClaim(record, claim);
      record.parked = null;
    }
    if (pausedFor) changes.moveTimeout(executionId, pausedFor);
    changes.update(record);
    return { kind: takes ? "claimed" : "owned", events: numbered(last, events) };
  },
};

/** Decisions that may wait for steps of one execution. */
const maxEarly = 1_000;

/** Records a decision that is made before its step waits. The owner of the execution finds it before it goes idle. */
function keep(
  { executionId, claim, events: given }: Resume,
  { path, resumes }: NonNullable<Resume["early"]>,
  record: ExecutionRecord,
  facts: Facts,
  changes: Changes,
): ResumeResult {
  const first = recordedWrite(executionId, claim.token, facts);
  if (first !== undefined) return { kind: "kept", events: first.events };
  const paths = earlyPaths(record.links);
  const isOver = record.endAt !== null || record.resumes !== resumes;
  if (isOver || paths.includes(path) || paths.length >= maxEarly) return { kind: "refused" };
  if (record.openSuspensions > 0 && facts.below(executionId, [path]).length > 0) return { kind: "refused" };
  const last = record.sequence;
  const events = inTime(given, facts.timeOf(executionId, last) ?? 0);
  append(record, events, claim.token, changes);
  record.resumes += events.length;
  record.links = withEarlyPaths(record.links, [...paths, path]);
  changes.update(record);
  return { kind: "kept", events: numbered(last, events) };
}

/** Whether a live owner runs it. The caller counts as alive, even when its lease ended while the machine slept. */
function isOwned({ token, owner }: ExecutionRecord, caller: string, facts: Facts): boolean {
  return token !== null && owner !== null && (owner === caller || facts.isAlive(owner));
}
