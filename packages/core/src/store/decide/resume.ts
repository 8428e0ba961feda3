// Resumes open suspensions: one conditional write, so of many simultaneous resumes exactly one is accepted.
import { inTime } from "../in-time.ts";
import { numbered } from "../sql/journal-row.ts";
import type { Resume, ResumeResult } from "../store.ts";
import { append } from "./changes.ts";
import type { Decision } from "./decision.ts";
import type { Facts } from "./facts.ts";
import { type ExecutionRecord, giveClaim } from "./record.ts";
import { ownedKey, recordedWrite, requestRecordedWrite } from "./recorded-write.ts";

export const resume: Decision<Resume, ResumeResult> = {
  request({ executionId, suspensionIds, claim }, record, requests) {
    if (record === undefined) return;
    requests.openSuspensions(suspensionIds);
    requests.timeOf(executionId, record.sequence);
    requestRecordedWrite(executionId, claim.token, requests);
    if (record.owner !== null) requests.isAlive(record.owner);
  },

  decide(argument, record, facts, changes) {
    if (record === undefined || (argument.byDeadline && record.paused)) return { kind: "refused" };
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

/** Whether a live owner runs it. The caller counts as alive, even when its lease ended while the machine slept. */
function isOwned({ token, owner }: ExecutionRecord, caller: string, facts: Facts): boolean {
  return token !== null && owner !== null && (owner === caller || facts.isAlive(owner));
}
