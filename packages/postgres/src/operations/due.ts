// Finds the first due timers, deadlines and timeouts.
import type { DueQuery, DueTimer } from "@andante/core/store";
import { integer, nullableInteger, nullableText, type Row, text } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { dueWork, targetsOf } from "./signals.ts";

/**
 * Each part walks the index of its times as far as the limit; $1 are the workflows, $2 the limit, $3 the agents, $4 the query's
 * `after`. Left to itself the planner takes idle, unpaused and unended executions for rare, reads all timers and sorts them.
 */
export function dueStatement(s: string): string {
  const isOpen = "not executions.paused and executions.end_at is null";
  const ofWorkflows = `executions.workflow_id = any($1) and ${isOpen}`;
  const ofAny = `(executions.workflow_id = any($1) or executions.agent_id = any($3))`;
  const timerAt = `case when executions.idle or (executions.parked is null and not exists (
        select from ${s}.owners where executions.token is not null and owners.owner = executions.owner
          and owners.expires_at > clock_timestamp()))
      then (select min(timers.due_at) from ${s}.timers where timers.execution_id = executions.execution_id) end`;
  return `
    (select case when executions.end_at is null then 'timer' else 'end' end as kind, executions.execution_id, workflow_id, user_id, due_at, null::bigint as timer_at,
       null as suspension_id, null as path, 0 as step_index
     from ${s}.timers join ${s}.executions on executions.execution_id = timers.execution_id
     where timers.due_at > $4 and not timers.held and ${ofAny} and not executions.paused and executions.idle order by timers.due_at limit $2)
    union all
    (select 'deadline', executions.execution_id, workflow_id, null, deadline, ${timerAt},
       suspension_id, suspensions.path, suspensions.step_index
     from ${s}.suspensions join ${s}.executions on executions.execution_id = suspensions.execution_id
     where deadline > $4 and not suspensions.held and ${ofAny} and ${isOpen} order by deadline limit $2)
    union all
    (select 'timeout', execution_id, workflow_id, null, timeout_at, ${timerAt}, null, null, 0
     from ${s}.executions where timeout_at > $4 and ${ofWorkflows} order by timeout_at limit $2)
    union all
    (select kind, schedule_id, workflow_id, null, due_at, null, null, null, 0
     from ${s}.schedules where due_at > $4 and (workflow_id = any($1) or agent_id = any($3))
     order by due_at limit $2)`;
}

export function due(readers: Readers, s: string) {
  const select = dueStatement(s);
  const withSignals = `${select} union all ${dueWork(s)}`;
  return async (query: DueQuery): Promise<DueTimer[]> => {
    const { workflowIds, agentIds = [], signals, after = -1, limit } = query;
    const values = [workflowIds, limit, agentIds, after];
    const rows = signals
      ? await readers.walk(withSignals, [...values, targetsOf({ workflowIds, agentIds })])
      : await readers.walk(select, values);
    const found = rows.map(toDue);
    const isSleep = ({ kind }: DueTimer) => kind !== "deadline" && kind !== "timeout";
    const sleeps = found.filter(isSleep);
    const limits = found.filter((each) => !isSleep(each));
    // Cut together: all that fall due before the last of them are among them.
    return [...limits.sort(byTime).slice(0, limit), ...sleeps].sort(byTime);
  };
}

function byTime(a: DueTimer, b: DueTimer): number {
  return a.dueAt - b.dueAt;
}

function toDue(row: Row): DueTimer {
  const common = {
    executionId: text(row, "execution_id"),
    workflowId: text(row, "workflow_id"),
    dueAt: integer(row, "due_at"),
  };
  if (row.kind === "timer") return { kind: "timer", ...common, userId: nullableText(row, "user_id") };
  if (row.kind === "end" || row.kind === "schedule" || row.kind === "signal" || row.kind === "delivery")
    return { kind: row.kind, ...common };
  const timerAt = nullableInteger(row, "timer_at");
  if (row.kind === "timeout") return { kind: "timeout", ...common, timerAt };
  return {
    kind: "deadline",
    ...common,
    timerAt,
    suspensionId: text(row, "suspension_id"),
    path: nullableText(row, "path"),
    stepIndex: integer(row, "step_index"),
  };
}
