// Finds what falls due first: timers, deadlines and timeouts.
import type { DatabaseSync } from "node:sqlite";
import type { DueQuery, DueTimer } from "../../store.ts";
import { integer, nullableText, type Row, text } from "../columns.ts";

// Each statement walks the index of its times. Left to itself SQLite reads every execution of the workflows and sorts:
// with 100 000 of them that took 112 ms for a look, walking takes 1 ms. So `cross join`, and `+` before the workflow.
export function due(database: DatabaseSync) {
  const ofWorkflows = "+workflow_id in (select value from json_each(?)) and paused = 0 and end_at is null";
  const timers = database.prepare(
    `select execution_id, workflow_id, due_at from timers cross join executions using (execution_id)
     where ${ofWorkflows} and idle = 1 order by due_at limit ?`,
  );
  const deadlines = database.prepare(
    `select execution_id, workflow_id, deadline as due_at, suspension_id, path, suspensions.step_index, on_deadline
     from suspensions cross join executions using (execution_id)
     where deadline is not null and ${ofWorkflows} order by deadline limit ?`,
  );
  const timeouts = database.prepare(
    `select execution_id, workflow_id, timeout_at as due_at from executions
     where timeout_at is not null and ${ofWorkflows} order by timeout_at limit ?`,
  );
  return ({ workflowIds, limit }: DueQuery): DueTimer[] => {
    const ids = JSON.stringify(workflowIds);
    const found = [
      ...timers.all(ids, limit).map((row): DueTimer => ({ kind: "timer", ...common(row) })),
      ...deadlines.all(ids, limit).map(toDeadline),
      ...timeouts.all(ids, limit).map((row): DueTimer => ({ kind: "timeout", ...common(row) })),
    ];
    return found.sort((a, b) => a.dueAt - b.dueAt);
  };
}

function common(row: Row) {
  return {
    executionId: text(row, "execution_id"),
    workflowId: text(row, "workflow_id"),
    dueAt: integer(row, "due_at"),
  };
}

function toDeadline(row: Row): DueTimer {
  return {
    kind: "deadline",
    ...common(row),
    suspensionId: text(row, "suspension_id"),
    path: nullableText(row, "path"),
    stepIndex: integer(row, "step_index"),
    onDeadline: nullableText(row, "on_deadline"),
  };
}
