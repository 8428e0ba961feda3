// Opens one suspension of an execution.
import type { DatabaseSync } from "node:sqlite";
import type { Suspension } from "../../store.ts";

export function openSuspension(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into suspensions (suspension_id, execution_id, path, step_index, reason, data, suspended_at, deadline,
       on_deadline, held, resume_schema)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  /** `held`: the execution is paused, so that no time runs out. */
  return (executionId: string, suspension: Suspension, held: boolean): void => {
    const { suspensionId, path, stepIndex, reason, data, suspendedAt, deadline, onDeadline } = suspension;
    const how = [
      reason,
      data,
      suspendedAt,
      deadline,
      onDeadline,
      held ? 1 : 0,
      suspension.resumeSchema ?? null,
    ];
    insert.run(suspensionId, executionId, path, stepIndex, ...how);
  };
}
