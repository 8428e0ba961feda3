// The heart of the store: checks the fence, appends events, changes the row, opens and closes suspensions.
import type { DatabaseSync } from "node:sqlite";
import { type ClaimedRow, hasLost } from "../../has-lost.ts";
import { rowText } from "../../sql/journal-row.ts";
import type { Commit, CommitResult } from "../../store.ts";
import type { WrittenEvent } from "../../stored-event.ts";
import type { StoredUsage } from "../../usage.ts";
import { integer, type Row } from "../columns.ts";
import { appendEvents, timeAt } from "../journal-rows.ts";
import { asKnown, inline, isLong, moveRow } from "./move-row.ts";
import { openSuspension } from "./open-suspension.ts";
import { recordedCommit, writeKey } from "./recorded-commit.ts";
import { usageWith } from "./usage-with.ts";

export function commit(database: DatabaseSync) {
  const append = appendEvents(database);
  const open = openSuspension(database);
  const recorded = recordedCommit(database);
  const sumUp = usageWith(database);
  const timeOf = timeAt(database);
  const setUsage = database.prepare("update executions set usage = ? where execution_id = ?");
  const select = database.prepare(
    `select token, commits, end_at, paused, sequence, resumes, open_suspensions from executions
     where execution_id = ?`,
  );
  // A path is below a step when the step's path and a "/", "[" or "#" begin it; substr needs no escaping.
  const closeBelow = database.prepare(
    `delete from suspensions where execution_id = ?1
       and (path = ?2 or substr(path, 1, length(?2) + 1) in (?2 || '/', ?2 || '[', ?2 || '#'))`,
  );
  const closeAll = database.prepare("delete from suspensions where execution_id = ?");
  const setTimer = database.prepare(
    `insert into timers (execution_id, path, due_at) values (?, ?, ?)
     on conflict (execution_id, path) do update set due_at = excluded.due_at`,
  );
  const clearTimer = database.prepare("delete from timers where execution_id = ? and path = ?");
  const clearTimers = database.prepare("delete from timers where execution_id = ?");
  const advance = database.prepare(
    `update executions set commits = ?, sequence = ?, open_suspensions = ?, status = ?, step_index = ?,
       recoveries = recoveries * ?
     where execution_id = ?`,
  );
  const letGo = database.prepare(
    "update executions set owner = null, token = null, idle = 1 where execution_id = ?",
  );
  const end = database.prepare(
    `update executions set sequence = ?, open_suspensions = 0, status = ?, end_at = ?, result = ?, result_at = ?,
       error = ?, step_index = ?, owner = null, token = null, recoveries = 0
     where execution_id = ?`,
  );
  const record = database.prepare(
    `update executions set commits = ?, sequence = ?, open_suspensions = ?, status = 'suspended',
       recoveries = recoveries * ?
     where execution_id = ?`,
  );

  const move = moveRow(database);
  const idleAtOnce = database.prepare(
    `update executions set commits = ?, sequence = ?, open_suspensions = open_suspensions + ?,
       status = iif(open_suspensions + ? > 0, 'suspended', 'running'), step_index = ?, recoveries = recoveries * ?,
       owner = null, token = null, idle = 1
     ${asKnown} and resumes = ?`,
  );
  const changeTimers = ({ executionId, timers, clear, end }: Commit) => {
    if (end !== null && (clear.length > 0 || timers.length > 0)) return void clearTimers.run(executionId);
    for (const path of clear) clearTimer.run(executionId, path);
    for (const { path, dueAt } of timers) setTimer.run(executionId, path, dueAt);
  };
  const atOnce = (argument: Commit, after: number, usage: StoredUsage | null): number | undefined => {
    const { executionId, token, number, following, end, stepIndex, progress } = argument;
    const events = join(argument.events, following);
    const moved = move({
      executionId,
      token,
      number,
      stepIndex,
      progress,
      after,
      count: events.length,
      row: rowText(after, events),
      key: writeKey(argument, "ok", false),
      end,
      endAt: endTime(argument),
      usage,
    });
    if (!moved) return undefined;
    changeTimers(argument);
    return after + events.length;
  };
  const goIdleAtOnce = (argument: Commit, after: number, request: IdleRequest): number | undefined => {
    const { executionId, token, number, stepIndex } = argument;
    const outcomes = join(argument.events, argument.following);
    const events = request.event === null ? outcomes : [...outcomes, request.event];
    const sequence = after + events.length;
    const opened = argument.open.length;
    const how = [number, sequence, opened, opened, stepIndex, argument.progress ? 0 : 1];
    const which = [executionId, token, number, after, request.resumes];
    if (idleAtOnce.run(...how, ...which).changes === 0) return undefined;
    for (const suspension of argument.open) open(executionId, suspension, false);
    append(executionId, after, events, writeKey(argument, "ok", true));
    changeTimers(argument);
    return sequence;
  };

  const result = (kind: CommitResult["kind"], sequence: number, idle: boolean) => ({ kind, sequence, idle });

  /** `usage` is what the execution has then used; null when the commit adds nothing. Default: it is summed up here. */
  return (argument: Commit, usage = sumUp(argument.executionId, argument.usage)): CommitResult => {
    const { executionId, number, after, others, idle: request, closeEnded = [] } = argument;
    if (after !== undefined && others === undefined && argument.closeBelow.length + closeEnded.length === 0) {
      if (argument.open.length === 0 && request === null) {
        const sequence = atOnce(argument, after, usage);
        if (sequence !== undefined) return result("ok", sequence, false);
      }
      if (request !== null && usage === null && argument.end === null) {
        const sequence = goIdleAtOnce(argument, after, request);
        if (sequence !== undefined) return result("ok", sequence, true);
      }
    }
    const row = select.get(executionId);
    const first = recorded(argument, row);
    if (first !== undefined) return first;
    const refusal = refused(row, argument.token);
    if (row === undefined || refusal !== undefined) return result(refusal ?? "fenced", 0, false);
    if (hasLost(argument, claimedRow(row), others && timeOf(executionId, others.sequence)))
      return result("lost", 0, false);
    const paused = integer(row, "paused") === 1;
    const events: WrittenEvent[] = paused
      ? [...argument.events]
      : [...argument.events, ...argument.following];
    const last = integer(row, "sequence");
    let opened = integer(row, "open_suspensions") + argument.open.length;

    if (usage !== null) setUsage.run(JSON.stringify(usage), executionId);
    for (const suspension of argument.open) open(executionId, suspension, paused);
    for (const path of paused ? closeEnded : [...closeEnded, ...argument.closeBelow])
      opened -= Number(closeBelow.run(executionId, path).changes);
    if (!paused) changeTimers(argument);
    if (argument.end !== null && !paused) {
      if (opened > 0) closeAll.run(executionId);
      const { status, result: output, error } = argument.end;
      const sequence = last + events.length;
      const endAt = endTime(argument);
      const resultAt = isLong(output) ? sequence : null;
      end.run(sequence, status, endAt, inline(output), resultAt, error, argument.stepIndex, executionId);
      append(executionId, last, events, writeKey(argument, "ok", false));
      return result("ok", sequence, false);
    }
    const idle = request !== null && request.resumes === integer(row, "resumes");
    if (idle && request.event !== null) events.push(request.event);
    const sequence = last + events.length;
    // What recoveries are multiplied by.
    const kept = argument.progress ? 0 : 1;
    const status = opened > 0 ? "suspended" : "running";
    if (paused) record.run(number, sequence, opened, kept, executionId);
    else advance.run(number, sequence, opened, status, argument.stepIndex, kept, executionId);
    if (idle) letGo.run(executionId);
    const kind = paused ? "paused" : "ok";
    append(executionId, last, events, writeKey(argument, kind, idle));
    return result(kind, sequence, idle);
  };
}

function refused(row: Row | undefined, token: string): "ended" | "fenced" | undefined {
  if (row === undefined) return "fenced";
  if (row.end_at !== null) return "ended";
  return row.token === token ? undefined : "fenced";
}

function claimedRow(row: Row): ClaimedRow {
  const [commits, sequence] = [integer(row, "commits"), integer(row, "sequence")];
  return { commits, sequence, resumes: integer(row, "resumes") };
}

function join(events: readonly WrittenEvent[], following: readonly WrittenEvent[]): readonly WrittenEvent[] {
  if (events.length === 0) return following;
  return following.length === 0 ? events : [...events, ...following];
}

type IdleRequest = NonNullable<Commit["idle"]>;
/** When it ends, if it does. */
function endTime({ following }: Commit): number {
  return following.at(-1)?.timestamp ?? Date.now();
}
