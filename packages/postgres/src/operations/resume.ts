// Resumes open suspensions: one conditional write, so of many simultaneous resumes exactly one wins.

import { inTime, numbered, type Resume, type ResumeResult } from "@andante/core/store";
import type { GroupOperation } from "../write/operation.ts";
import { askRecordedWrite, ownedKey, recordedWrite } from "./recorded-write.ts";

export const resume: GroupOperation<Resume, ResumeResult> = {
  ask({ executionId, suspensionIds, claim }, row, facts) {
    facts.askOpen(suspensionIds);
    facts.askLastAt(executionId);
    askRecordedWrite(executionId, claim.token, facts);
    if (row?.owner) facts.askAlive(row.owner);
  },

  decide(argument, row, facts, changes) {
    if (row === undefined || (argument.byDeadline && row.paused)) return { kind: "refused" };
    const { executionId, suspensionIds, rewind, claim } = argument;
    const waiting = suspensionIds.map((id) => facts.openSuspension(id));
    const allOpen = waiting.every((suspension) => suspension?.executionId === executionId);
    // By its time too: a failover may have lost events, and others may have written as many since.
    const { last: known = { sequence: row.sequence, at: facts.lastAt(executionId) } } = argument;
    const changed = known.sequence !== row.sequence || known.at !== facts.lastAt(executionId);
    if (changed || row.status !== "suspended" || !allOpen) {
      const first = recordedWrite(executionId, claim.token, facts);
      if (first === undefined) return { kind: "refused" };
      return { kind: first.owned ? "owned" : "claimed", events: first.events };
    }
    if (rewind === null) changes.close(suspensionIds);
    else {
      changes.closeAll(executionId);
      changes.clearTimers(executionId);
    }
    const left = rewind === null ? row.openSuspensions - suspensionIds.length : 0;
    const liftsPause = rewind !== null || waiting.some((suspension) => suspension?.path === null);
    if (liftsPause && rewind === null) changes.hold(executionId, false);
    // The caller is alive, even when its lease ran out while the machine slept.
    const owned =
      row.token !== null && row.owner !== null && (row.owner === claim.owner || facts.isAlive(row.owner));
    const takes = rewind !== null || !owned;
    const last = row.sequence;
    const events = inTime(argument.events, facts.lastAt(executionId));
    changes.append(row, events, takes ? claim.token : ownedKey(claim.token));
    row.openSuspensions = left;
    row.status = left > 0 ? "suspended" : "running";
    if (liftsPause) row.paused = false;
    if (rewind !== null) row.stepIndex = rewind.stepIndex;
    row.resumes += events.length;
    if (takes) {
      row.owner = claim.owner;
      row.token = claim.token;
      row.commits = 0;
      row.idle = false;
      row.parked = null;
    }
    changes.row(row);
    return { kind: takes ? "claimed" : "owned", events: numbered(last, events) };
  },
};
