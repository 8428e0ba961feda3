// Resumes open suspensions: one conditional write, so of many simultaneous resumes exactly one wins.
import type { DatabaseSync } from "node:sqlite";
import { inTime } from "../../in-time.ts";
import { numbered } from "../../sql/journal-row.ts";
import type { Resume, ResumeResult } from "../../store.ts";
import { integer, nullableText } from "../columns.ts";
import { appendEvents, timeAt } from "../journal-rows.ts";
import { holdTimes } from "./hold-times.ts";
import { isAlive } from "./is-alive.ts";
import { ownedKey, recordedWrite } from "./recorded-write.ts";

export function resume(database: DatabaseSync) {
  const append = appendEvents(database);
  const timeOf = timeAt(database);
  const alive = isAlive(database);
  const hold = holdTimes(database);
  const recorded = recordedWrite(database);
  const select = database.prepare(
    `select status, sequence, paused, open_suspensions, step_index, owner, token from executions
     where execution_id = ?`,
  );
  const find = database.prepare("select path from suspensions where suspension_id = ? and execution_id = ?");
  const close = database.prepare("delete from suspensions where suspension_id = ?");
  const closeAll = database.prepare("delete from suspensions where execution_id = ?");
  const clearTimers = database.prepare("delete from timers where execution_id = ?");
  const update = database.prepare(
    `update executions set sequence = ?, open_suspensions = ?, status = ?, paused = ?, step_index = ?,
       resumes = resumes + ?, timeout_at = timeout_at + ?
     where execution_id = ?`,
  );
  const claim = database.prepare(
    "update executions set owner = ?, token = ?, commits = 0, idle = 0, parked = null where execution_id = ?",
  );
  // Nearly every resume is of one suspension of an idle execution that is as its caller knows it: one statement then checks
  // that and takes it.
  const takeAtOnce = database.prepare(
    `update executions set sequence = sequence + ?, resumes = resumes + ?, open_suspensions = open_suspensions - 1,
       status = iif(open_suspensions > 1, 'suspended', 'running'),
       owner = ?, token = ?, commits = 0, idle = 0, parked = null
     where execution_id = ? and sequence = ? and status = 'suspended' and paused = 0 and token is null
       and exists (select 1 from suspensions where suspension_id = ? and execution_id = ?)`,
  );
  const atOnce = (argument: Resume): boolean => {
    const { executionId, claim, last } = argument;
    const [suspensionId, ...others] = argument.suspensionIds;
    if (last === undefined || suspensionId === undefined || others.length > 0 || argument.rewind !== null)
      return false;
    const count = argument.events.length;
    const which = [executionId, last.sequence, suspensionId, executionId];
    if (takeAtOnce.run(count, count, claim.owner, claim.token, ...which).changes === 0) return false;
    close.run(suspensionId);
    append(executionId, last.sequence, inTime(argument.events, last.at), claim.token);
    return true;
  };

  /** Returns a function that is undefined where the result is the usual one, see `usualResume`. */
  return (argument: Resume): ResumeResult | undefined => {
    const { executionId, suspensionIds, last } = argument;
    if (atOnce(argument)) return undefined;
    const row = select.get(executionId);
    if (row === undefined) return { kind: "refused" };
    const { token } = argument.claim;
    const sequence = integer(row, "sequence");
    if (argument.byDeadline && integer(row, "paused") === 1) return { kind: "refused" };
    const waiting = suspensionIds.map((id) => find.get(id, executionId));
    const changed = last !== undefined && last.sequence !== sequence;
    if (changed || row.status !== "suspended" || waiting.includes(undefined)) {
      const first = recorded(executionId, sequence, token);
      if (first === undefined) return { kind: "refused" };
      return { kind: first.owned ? "owned" : "claimed", events: first.events };
    }
    for (const id of suspensionIds) close.run(id);
    const rewinds = argument.rewind !== null;
    if (rewinds) {
      closeAll.run(executionId);
      clearTimers.run(executionId);
    }
    const left = rewinds ? 0 : integer(row, "open_suspensions") - suspensionIds.length;
    const liftsPause = rewinds || waiting.some((suspension) => suspension?.path === null);
    if (liftsPause && !rewinds) hold(executionId, false);
    const owner = nullableText(row, "owner");
    // The caller is alive, even when its lease ran out while the machine slept.
    const owned = row.token !== null && (owner === argument.claim.owner || alive(owner));
    const takes = rewinds || !owned;
    const events = inTime(argument.events, timeOf(executionId, sequence) ?? 0);
    append(executionId, sequence, events, takes ? token : ownedKey(token));
    update.run(
      sequence + events.length,
      left,
      left > 0 ? "suspended" : "running",
      liftsPause ? 0 : integer(row, "paused"),
      argument.rewind?.stepIndex ?? integer(row, "step_index"),
      events.length,
      argument.pausedFor ?? 0,
      executionId,
    );
    if (takes) claim.run(argument.claim.owner, token, executionId);
    return { kind: takes ? "claimed" : "owned", events: numbered(sequence, events) };
  };
}
