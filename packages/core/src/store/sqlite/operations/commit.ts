// The heart of the store: checks the fence, appends events, changes the row, opens and closes suspensions.
import type { DatabaseSync } from "node:sqlite";
import type { Commit, CommitResult } from "../../store.ts";
import type { WrittenEvent } from "../../stored-event.ts";
import type { StoredUsage } from "../../usage.ts";
import { integer, type Row } from "../columns.ts";
import { appendEvents } from "../journal-rows.ts";
import { openSuspension } from "./open-suspension.ts";
import { recordedCommit, writeKey } from "./recorded-commit.ts";
import { usageWith } from "./usage-with.ts";

export function commit(database: DatabaseSync) {
  const append = appendEvents(database);
  const open = openSuspension(database);
  const recorded = recordedCommit(database);
  const sumUp = usageWith(database);
  const setUsage = database.prepare("update executions set usage = ? where execution_id = ?");
  const select = database.prepare(
    `select token, commits, end_at, paused, sequence, resumes, open_suspensions from executions
     where execution_id = ?`,
  );
  // A path is below a container when the container's path and a "/" or "[" begin it; substr needs no escaping.
  const closeBelow = database.prepare(
    `delete from suspensions where execution_id = ?
       and substr(path, 1, length(?) + 1) in (? || '/', ? || '[')`,
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

  // Nearly every commit finds its execution as it left it. One statement then checks the fence and moves the row: reading
  // it first cost a fifth of the writer's time with trivial steps.
  // What agents have used is another column of it, where they have.
  const advancing = (more: "" | "usage = ?," = "") =>
    database.prepare(
      `update executions set ${more} commits = ?, sequence = sequence + ?, step_index = ?, recoveries = recoveries * ?
       where execution_id = ? and token = ? and paused = 0 and commits < ? returning sequence`,
    );
  const ending = (more: "" | "usage = ?," = "") =>
    database.prepare(
      `update executions set ${more} sequence = sequence + ?, status = ?, end_at = ?, result = ?,
         result_at = iif(?, sequence + ?, null), error = ?, step_index = ?, owner = null, token = null, recoveries = 0
       where execution_id = ? and token = ? and paused = 0 and open_suspensions = 0 and commits < ?
       returning sequence`,
    );
  const idleAtOnce = database.prepare(
    `update executions set commits = ?, sequence = sequence + ?, open_suspensions = open_suspensions + ?,
       status = iif(open_suspensions + ? > 0, 'suspended', 'running'), step_index = ?, recoveries = recoveries * ?,
       owner = null, token = null, idle = 1
     where execution_id = ? and token = ? and paused = 0 and commits < ? and resumes = ? returning sequence`,
  );
  const [advanceAtOnce, advanceUsing] = [advancing(), advancing("usage = ?,")];
  const [endAtOnce, endUsing] = [ending(), ending("usage = ?,")];
  const changeTimers = ({ executionId, timers, clear, end }: Commit) => {
    if (end !== null && (clear.length > 0 || timers.length > 0)) return void clearTimers.run(executionId);
    for (const path of clear) clearTimer.run(executionId, path);
    for (const { path, dueAt } of timers) setTimer.run(executionId, path, dueAt);
  };
  const atOnce = (argument: Commit, usage: StoredUsage | null): number | undefined => {
    const { executionId, token, number, following, end, stepIndex, progress } = argument;
    const events = join(argument.events, following);
    const count = events.length;
    let row: Row | undefined;
    if (end === null) {
      const kept = progress ? 0 : 1;
      row =
        usage === null
          ? advanceAtOnce.get(number, count, stepIndex, kept, executionId, token, number)
          : advanceUsing.get(
              JSON.stringify(usage),
              number,
              count,
              stepIndex,
              kept,
              executionId,
              token,
              number,
            );
    } else {
      const endAt = following.at(-1)?.timestamp ?? Date.now();
      const { status, result, error } = end;
      const how = [count, status, endAt, inline(result), isLong(result), count, error, stepIndex];
      const which = [executionId, token, number];
      row =
        usage === null
          ? endAtOnce.get(...how, ...which)
          : endUsing.get(JSON.stringify(usage), ...how, ...which);
    }
    if (row === undefined) return undefined;
    const sequence = integer(row, "sequence");
    append(executionId, sequence - count, events, writeKey(argument, "ok", false));
    changeTimers(argument);
    return sequence;
  };

  const goIdleAtOnce = (argument: Commit, { resumes, event }: IdleRequest): number | undefined => {
    const { executionId, token, number, stepIndex } = argument;
    const outcomes = join(argument.events, argument.following);
    const events = event === null ? outcomes : [...outcomes, event];
    const opened = argument.open.length;
    const how = [number, events.length, opened, opened, stepIndex, argument.progress ? 0 : 1];
    const row = idleAtOnce.get(...how, executionId, token, number, resumes);
    if (row === undefined) return undefined;
    const sequence = integer(row, "sequence");
    for (const suspension of argument.open) open(executionId, suspension, false);
    append(executionId, sequence - events.length, events, writeKey(argument, "ok", true));
    changeTimers(argument);
    return sequence;
  };

  const result = (kind: CommitResult["kind"], sequence: number, idle: boolean) => ({ kind, sequence, idle });

  /** `usage` is what the execution has then used; null when the commit adds nothing. Default: it is summed up here. */
  return (argument: Commit, usage = sumUp(argument.executionId, argument.usage)): CommitResult => {
    const { executionId, number, idle: request } = argument;
    if (argument.closeBelow.length === 0) {
      if (argument.open.length === 0 && request === null) {
        const sequence = atOnce(argument, usage);
        if (sequence !== undefined) return result("ok", sequence, false);
      }
      if (request !== null && usage === null && argument.end === null) {
        const sequence = goIdleAtOnce(argument, request);
        if (sequence !== undefined) return result("ok", sequence, true);
      }
    }
    const row = select.get(executionId);
    const first = recorded(argument, row);
    if (first !== undefined) return first;
    const refusal = refused(row, argument.token);
    if (row === undefined || refusal !== undefined) return result(refusal ?? "fenced", 0, false);
    const paused = integer(row, "paused") === 1;
    const events: WrittenEvent[] = paused
      ? [...argument.events]
      : [...argument.events, ...argument.following];
    const last = integer(row, "sequence");
    let opened = integer(row, "open_suspensions") + argument.open.length;

    if (usage !== null) setUsage.run(JSON.stringify(usage), executionId);
    for (const suspension of argument.open) open(executionId, suspension, paused);
    if (!paused) {
      changeTimers(argument);
      for (const path of argument.closeBelow)
        opened -= Number(closeBelow.run(executionId, path, path, path).changes);
    }
    if (argument.end !== null && !paused) {
      if (opened > 0) closeAll.run(executionId);
      const { status, result: output, error } = argument.end;
      const sequence = last + events.length;
      const endAt = argument.following.at(-1)?.timestamp ?? Date.now();
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

function join(events: readonly WrittenEvent[], following: readonly WrittenEvent[]): readonly WrittenEvent[] {
  if (events.length === 0) return following;
  return following.length === 0 ? events : [...events, ...following];
}

type IdleRequest = NonNullable<Commit["idle"]>;
type Result = NonNullable<Commit["end"]>["result"];

/** 1 when the last event holds the result: the row then says which event that is. */
function isLong(result: Result): 0 | 1 {
  return typeof result === "object" && result !== null ? 1 : 0;
}

function inline(result: Result): string | null {
  return typeof result === "string" ? result : null;
}
