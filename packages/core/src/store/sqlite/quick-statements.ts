// The most frequent writes, each in one statement that also checks the case; every other case is left to its decision.
//
// Nearly every commit finds its execution as its owner knows it. Reading the row first cost a fifth of the writer's time
// with trivial steps, and `returning` its columns a seventh.
import type { DatabaseSync } from "node:sqlite";
import { endTime, isPlain, resultOf, writeKey } from "../decide/index.ts";
import { inTime } from "../in-time.ts";
import { numbered } from "../sql/journal-row.ts";
import type { Commit, CommitResult, Resume, ResumeResult } from "../store.ts";
import type { WrittenEvent } from "../stored-event.ts";
import { appendEvents, insertRow } from "./journal-rows.ts";
import type { PackedCommit } from "./packed-commit.ts";
import { openSuspension, timerChanges } from "./perform-decision.ts";
import { SearchFrontier } from "./search-frontier.ts";

/** The execution is as its owner knows it, and has at most so many open suspensions. */
const asKnown = `where execution_id = ? and token = ? and paused = 0 and commits = ? - 1 and sequence = ?
  and open_suspensions <= ?`;

const anyNumber = Number.MAX_SAFE_INTEGER;

/** The fields of a commit that its execution's row depends on. */
type Move = Pick<
  Commit,
  "executionId" | "token" | "number" | "stepIndex" | "progress" | "end" | "idle" | "open"
>;

/** Returns a function that is undefined, and has changed nothing, when the commit needs the decision. */
export function quickCommit(database: DatabaseSync, search = new SearchFrontier(database)) {
  const append = appendEvents(database);
  const insert = insertRow(database);
  const open = openSuspension(database, search);
  const { setTimer, clearTimer } = timerChanges(database);
  const clearTimers = database.prepare("delete from timers where execution_id = ?");
  const advance = database.prepare(
    `update executions set commits = ?, sequence = ?, step_index = ?, recoveries = recoveries * ? ${asKnown}`,
  );
  const goIdle = database.prepare(
    `update executions set commits = ?, sequence = ?, step_index = ?, recoveries = recoveries * ?,
       open_suspensions = open_suspensions + ?, status = iif(open_suspensions + ? > 0, 'suspended', 'running'),
       owner = null, token = null, idle = 1
     ${asKnown} and resumes = ?`,
  );
  const end = database.prepare(
    `update executions set commits = ?, sequence = ?, step_index = ?, recoveries = 0, status = ?, end_at = ?, result = ?,
       result_at = ?, error = ?, owner = null, token = null
     ${asKnown} and links is null`,
  );

  /** Whether the row was as the owner knows it, and is changed. */
  const move = (commit: Move, after: number, sequence: number, endAt: number, closes: boolean): boolean => {
    const { executionId, token, number, stepIndex, idle } = commit;
    // With no suspension open there is none to close.
    const which = [executionId, token, number, after, closes || commit.end !== null ? 0 : anyNumber];
    const kept = commit.progress ? 0 : 1;
    if (commit.end !== null) {
      const { result, resultAt } = resultOf(commit.end.result, sequence);
      const outcome = [commit.end.status, endAt, result, resultAt, commit.end.error];
      if (end.run(number, sequence, stepIndex, ...outcome, ...which).changes !== 1) return false;
      search.joins("end", endAt);
      return true;
    }
    if (idle === null) return advance.run(number, sequence, stepIndex, kept, ...which).changes === 1;
    const opened = commit.open.length;
    return (
      goIdle.run(number, sequence, stepIndex, kept, opened, opened, ...which, idle.resumes).changes === 1
    );
  };

  const quickPacked = (commit: PackedCommit): CommitResult | undefined => {
    const [executionId, token, number, after, stepIndex, progress, row, outcomes, following, lastAt, end] =
      commit;
    const sequence = after + outcomes + following;
    const plain = { executionId, token, number, stepIndex, progress, end, idle: null, open: [] };
    if (!move(plain, after, sequence, lastAt, false)) return undefined;
    insert.run(executionId, sequence, row, writeKey(plain, "ok", false));
    return { kind: "ok", sequence, idle: false };
  };

  return (commit: Commit | PackedCommit): CommitResult | undefined => {
    if (!("executionId" in commit)) return quickPacked(commit);
    const { executionId, after, idle, timers, clear, closeEnded = [], closeBelow } = commit;
    if (after === undefined || !isQuick(commit)) return undefined;
    const events = eventsOf(commit);
    const sequence = after + events.length;
    const closes = closeEnded.length + closeBelow.length > 0;
    if (!move(commit, after, sequence, endTime(commit), closes)) return undefined;
    for (const suspension of commit.open) open(executionId, suspension, false);
    append(executionId, after, events, writeKey(commit, "ok", idle !== null));
    if (commit.end === null) {
      for (const path of clear) clearTimer(executionId, path);
      for (const timer of timers) setTimer(executionId, timer);
    } else if (clear.length > 0 || timers.length > 0) clearTimers.run(executionId);
    return { kind: "ok", sequence, idle: idle !== null };
  };
}

function isQuick(commit: Commit): boolean {
  const { open, idle, end, closeEnded = [], closeBelow } = commit;
  if (!isPlain(commit) || (idle !== null && end !== null)) return false;
  return open.length === 0 || (idle !== null && closeEnded.length + closeBelow.length === 0);
}

function eventsOf({ events, following, idle }: Commit): readonly WrittenEvent[] {
  if (idle?.event) return [...events, ...following, idle.event];
  if (events.length === 0) return following;
  return following.length === 0 ? events : [...events, ...following];
}

/** Returns a function that is undefined, and has changed nothing, when the resume needs the decision. */
export function quickResume(database: DatabaseSync) {
  const append = appendEvents(database);
  const close = database.prepare("delete from suspensions where suspension_id = ?");
  // An idle execution whose last event is the one that the caller knows.
  const take = database.prepare(
    `update executions set sequence = sequence + ?, resumes = resumes + ?, open_suspensions = open_suspensions - 1,
       status = iif(open_suspensions > 1, 'suspended', 'running'),
       owner = ?, token = ?, commits = 0, idle = 0, parked = null
     where execution_id = ? and sequence = ? and status = 'suspended' and paused = 0 and token is null
       and exists (select 1 from suspensions
         where suspension_id = ? and suspensions.execution_id = executions.execution_id and path is not null)
       and (select events ->> '$[#-1][1]' from journal
         where journal.execution = executions.id and journal.sequence = executions.sequence) = ?`,
  );
  return (resume: Resume): ResumeResult | undefined => {
    const { executionId, suspensionIds, rewind, last, pausedFor, claim, note } = resume;
    const [suspensionId, ...others] = suspensionIds;
    if (last === undefined || suspensionId === undefined || others.length > 0) return undefined;
    if (rewind !== null || pausedFor || note !== undefined) return undefined;
    const count = resume.events.length;
    const which = [executionId, last.sequence, suspensionId, last.at];
    if (take.run(count, count, claim.owner, claim.token, ...which).changes === 0) return undefined;
    close.run(suspensionId);
    const events = inTime(resume.events, last.at);
    append(executionId, last.sequence, events, claim.token);
    return { kind: "claimed", events: numbered(last.sequence, events) };
  };
}
