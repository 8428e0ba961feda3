// Reads one execution with its open suspensions, oldest first.
import type { DatabaseSync } from "node:sqlite";
import type { ExecutionState } from "../../store.ts";
import { toExecution, toSuspension } from "../columns.ts";

export function state(database: DatabaseSync) {
  const select = database.prepare("select * from executions where execution_id = ?");
  const open = database.prepare(
    "select * from suspensions where execution_id = ? order by suspended_at, suspension_id",
  );
  return (executionId: string): ExecutionState | undefined => {
    const row = select.get(executionId);
    if (row === undefined) return undefined;
    return { execution: toExecution(row), suspensions: open.all(executionId).map(toSuspension) };
  };
}
