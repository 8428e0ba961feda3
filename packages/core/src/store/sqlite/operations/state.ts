// Reads one execution with its open suspensions, oldest first, and its timers.
import type { DatabaseSync } from "node:sqlite";
import type { ExecutionState } from "../../store.ts";
import { toExecution, toSuspension, toTimer } from "../columns.ts";

export function state(database: DatabaseSync) {
  const select = database.prepare("select * from executions where execution_id = ?");
  const open = database.prepare(
    "select * from suspensions where execution_id = ? order by suspended_at, suspension_id",
  );
  const timers = database.prepare("select path, due_at from timers where execution_id = ?");
  return (executionId: string): ExecutionState | undefined => {
    const row = select.get(executionId);
    if (row === undefined) return undefined;
    return {
      execution: toExecution(row),
      suspensions: open.all(executionId).map(toSuspension),
      timers: timers.all(executionId).map(toTimer),
    };
  };
}
