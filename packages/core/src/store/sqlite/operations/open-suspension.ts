// Opens one suspension of an execution.
import type { DatabaseSync } from "node:sqlite";
import type { Suspension } from "../../store.ts";

export function openSuspension(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into suspensions (suspension_id, execution_id, path, step_index, reason, data, suspended_at, deadline,
       on_deadline)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (executionId: string, suspension: Suspension): void => {
    const { suspensionId, path, stepIndex, reason, data, suspendedAt, deadline, onDeadline } = suspension;
    insert.run(suspensionId, executionId, path, stepIndex, reason, data, suspendedAt, deadline, onDeadline);
  };
}
