// The heart of the store: checks the fence, appends events, changes the row, opens and closes suspensions.
import type { DatabaseSync } from "node:sqlite";
import type { Commit, CommitResult } from "../../store.ts";
import { integer, type Row } from "../columns.ts";
import { appendEvents } from "./append-events.ts";
import { openSuspension } from "./open-suspension.ts";

export function commit(database: DatabaseSync) {
  const append = appendEvents(database);
  const open = openSuspension(database);
  const select = database.prepare(
    "select token, end_at, paused, sequence, resumes, open_suspensions from executions where execution_id = ?",
  );
  // A path is below a container when the container's path and a "/" or "[" begin it; substr needs no escaping.
  const closeBelow = database.prepare(
    `delete from suspensions where execution_id = ?1
       and substr(path, 1, length(?2) + 1) in (?2 || '/', ?2 || '[')`,
  );
  const closeAll = database.prepare("delete from suspensions where execution_id = ?");
  const setTimer = database.prepare(
    `insert into timers (execution_id, path, due_at) values (?, ?, ?)
     on conflict (execution_id, path) do update set due_at = excluded.due_at`,
  );
  const clearTimer = database.prepare("delete from timers where execution_id = ? and path = ?");
  const clearTimers = database.prepare("delete from timers where execution_id = ?");
  const advance = database.prepare(
    `update executions set sequence = ?, open_suspensions = ?, status = ?, step_index = ?, recoveries = recoveries * ?
     where execution_id = ?`,
  );
  const letGo = database.prepare(
    "update executions set owner = null, token = null, idle = 1 where execution_id = ?",
  );
  const end = database.prepare(
    `update executions set sequence = ?, open_suspensions = 0, status = ?, end_at = ?, result = ?, error = ?,
       step_index = ?, owner = null, token = null, recoveries = 0
     where execution_id = ?`,
  );
  const record = database.prepare(
    `update executions set sequence = ?, open_suspensions = ?, status = 'suspended', recoveries = recoveries * ?
     where execution_id = ?`,
  );

  // Nearly every commit finds its execution as it left it. One statement then checks the fence and moves the row: reading
  // it first cost a fifth of the writer's time with trivial steps.
  const advanceAtOnce = database.prepare(
    `update executions set sequence = sequence + ?, step_index = ?, recoveries = recoveries * ?
     where execution_id = ? and token = ? and paused = 0 returning sequence`,
  );
  const endAtOnce = database.prepare(
    `update executions set sequence = sequence + ?, status = ?, end_at = ?, result = ?, error = ?, step_index = ?,
       owner = null, token = null, recoveries = 0
     where execution_id = ? and token = ? and paused = 0 and open_suspensions = 0 returning sequence`,
  );
  const changeTimers = ({ executionId, timers, clear, end }: Commit) => {
    if (end !== null && (clear.length > 0 || timers.length > 0)) return void clearTimers.run(executionId);
    for (const path of clear) clearTimer.run(executionId, path);
    for (const { path, dueAt } of timers) setTimer.run(executionId, path, dueAt);
  };
  const atOnce = (argument: Commit): number | undefined => {
    const { executionId, token, events, following, end, stepIndex, progress } = argument;
    const count = events.length + following.length;
    const endAt = following.at(-1)?.timestamp ?? Date.now();
    const row =
      end === null
        ? advanceAtOnce.get(count, stepIndex, progress ? 0 : 1, executionId, token)
        : endAtOnce.get(count, end.status, endAt, end.result, end.error, stepIndex, executionId, token);
    if (row === undefined) return undefined;
    const sequence = integer(row, "sequence");
    append(executionId, sequence - count, events);
    append(executionId, sequence - following.length, following);
    changeTimers(argument);
    return sequence;
  };

  const result = (kind: CommitResult["kind"], sequence: number, idle: boolean) => ({ kind, sequence, idle });

  return (argument: Commit): CommitResult => {
    const { executionId, events, following } = argument;
    if (argument.open.length === 0 && argument.closeBelow.length === 0 && argument.idle === null) {
      const sequence = atOnce(argument);
      if (sequence !== undefined) return result("ok", sequence, false);
    }
    const row = select.get(executionId);
    const refusal = refused(row, argument.token);
    if (row === undefined || refusal !== undefined) return result(refusal ?? "fenced", 0, false);
    const paused = integer(row, "paused") === 1;
    let sequence = integer(row, "sequence");
    let opened = integer(row, "open_suspensions") + argument.open.length;

    append(executionId, sequence, events);
    sequence += events.length;
    for (const suspension of argument.open) open(executionId, suspension);
    if (!paused) {
      append(executionId, sequence, following);
      sequence += following.length;
      changeTimers(argument);
      for (const path of argument.closeBelow) opened -= Number(closeBelow.run(executionId, path).changes);
    }
    if (argument.end !== null && !paused) {
      if (opened > 0) closeAll.run(executionId);
      const { status, result: output, error } = argument.end;
      const endAt = following.at(-1)?.timestamp ?? Date.now();
      end.run(sequence, status, endAt, output, error, argument.stepIndex, executionId);
      return result("ok", sequence, false);
    }
    const idle = argument.idle !== null && argument.idle.resumes === integer(row, "resumes");
    if (idle && argument.idle.event !== null) append(executionId, sequence++, [argument.idle.event]);
    // What recoveries are multiplied by.
    const kept = argument.progress ? 0 : 1;
    const status = opened > 0 ? "suspended" : "running";
    if (paused) record.run(sequence, opened, kept, executionId);
    else advance.run(sequence, opened, status, argument.stepIndex, kept, executionId);
    if (idle) letGo.run(executionId);
    return result(paused ? "paused" : "ok", sequence, idle);
  };
}

function refused(row: Row | undefined, token: string): "ended" | "fenced" | undefined {
  if (row === undefined) return "fenced";
  if (row.end_at !== null) return "ended";
  return row.token === token ? undefined : "fenced";
}
