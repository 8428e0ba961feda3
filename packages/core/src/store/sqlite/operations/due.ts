// Finds the first due timers, deadlines and timeouts.
import type { DatabaseSync } from "node:sqlite";
import type { DueQuery, DueTimer } from "../../store.ts";
import { integer, nullableInteger, nullableText, type Row, text } from "../columns.ts";
import { leaseTime } from "./heartbeat.ts";
import { late } from "./late.ts";
import { dueWork } from "./signals.ts";

// Each statement walks the index of its times. Left to itself SQLite reads every execution of the workflows and sorts:
// with 100 000 of them a poll took 112 ms, walking takes 1 ms. So `cross join`, and `+` before the workflow.
export function due(database: DatabaseSync) {
  const isOpen = "paused = 0 and end_at is null";
  const ofWorkflows = `+workflow_id in (select value from json_each(?)) and ${isOpen}`;
  const ofAny = `(+workflow_id in (select value from json_each(?)) or +agent_id in (select value from json_each(?)))
     and `;
  // An execution that has ended has a timer only where its end is due.
  const timers = database.prepare(
    `select execution_id, workflow_id, user_id, due_at, end_at from timers cross join executions using (execution_id)
     where due_at > ? and held = 0 and ${ofAny} paused = 0 and idle = 1 order by due_at limit ?`,
  );
  const timerAt = `iif(idle = 1 or (parked is null and not exists (
       select 1 from owners where token is not null and owners.owner = executions.owner and expires_at > ?)),
     (select min(due_at) from timers where timers.execution_id = executions.execution_id), null) as timer_at`;
  const deadlines = database.prepare(
    `select execution_id, workflow_id, deadline as due_at, ${timerAt}, suspension_id, path, suspensions.step_index
     from suspensions cross join executions using (execution_id)
     where deadline > ? and held = 0 and ${ofAny} ${isOpen} order by deadline limit ?`,
  );
  const timeouts = database.prepare(
    `select execution_id, workflow_id, timeout_at as due_at, ${timerAt} from executions
     where timeout_at > ? and ${ofWorkflows} order by timeout_at limit ?`,
  );
  const schedules = database.prepare(
    `select kind, schedule_id as execution_id, workflow_id, due_at from schedules
     where due_at > ? and (+workflow_id in (select value from json_each(?))
       or +agent_id in (select value from json_each(?))) order by due_at limit ?`,
  );
  const works = late(database, dueWork);
  return (query: DueQuery): DueTimer[] => {
    const { workflowIds, agentIds = [], signals = false, after = -1, limit } = query;
    const ids = JSON.stringify(workflowIds);
    const agents = JSON.stringify(agentIds);
    const now = leaseTime();
    const limits = [
      ...deadlines.all(now, after, ids, agents, limit).map(toDeadline),
      ...timeouts.all(now, after, ids, limit).map(toTimeout),
    ];
    // Cut together: every row due before the last of them is among them.
    const first = limits.sort(byTime).slice(0, limit);
    const sleeps = timers.all(after, ids, agents, limit).map(toSleep);
    const others = schedules.all(after, ids, agents, limit).map(toScheduled);
    if (signals) others.push(...works(query));
    return [...first, ...sleeps, ...others].sort(byTime);
  };
}

function byTime(a: DueTimer, b: DueTimer): number {
  return a.dueAt - b.dueAt;
}

function common(row: Row) {
  return {
    executionId: text(row, "execution_id"),
    workflowId: text(row, "workflow_id"),
    dueAt: integer(row, "due_at"),
  };
}

function toSleep(row: Row): DueTimer {
  if (row.end_at !== null) return { kind: "end", ...common(row) };
  return { kind: "timer", ...common(row), userId: nullableText(row, "user_id") };
}

function toScheduled(row: Row): DueTimer {
  return { kind: row.kind === "delivery" ? "delivery" : "schedule", ...common(row) };
}

function toTimeout(row: Row): DueTimer {
  return { kind: "timeout", ...common(row), timerAt: nullableInteger(row, "timer_at") };
}

function toDeadline(row: Row): DueTimer {
  return {
    kind: "deadline",
    ...common(row),
    timerAt: nullableInteger(row, "timer_at"),
    suspensionId: text(row, "suspension_id"),
    path: nullableText(row, "path"),
    stepIndex: integer(row, "step_index"),
  };
}
