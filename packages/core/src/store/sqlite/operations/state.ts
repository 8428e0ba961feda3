// Reads one execution with its open suspensions, oldest first, its timers, and the usage of its agents.
import type { DatabaseSync } from "node:sqlite";
import type { StoredExecution } from "../../store.ts";
import { nullableInteger, readUsage, toExecution, toSuspension, toTimer } from "../columns.ts";
import { valueAt } from "../journal-rows.ts";

export function state(database: DatabaseSync) {
  const select = database.prepare("select * from executions where execution_id = ?");
  const open = database.prepare(
    "select * from suspensions where execution_id = ? order by suspended_at, suspension_id",
  );
  const timers = database.prepare("select path, due_at from timers where execution_id = ?");
  const findValue = valueAt(database);
  return (executionId: string): StoredExecution | undefined => {
    const row = select.get(executionId);
    if (row === undefined) return undefined;
    const resultAt = nullableInteger(row, "result_at");
    const execution = toExecution(row);
    return {
      execution: resultAt === null ? execution : { ...execution, result: findValue(executionId, resultAt) },
      suspensions: open.all(executionId).map(toSuspension),
      timers: timers.all(executionId).map(toTimer),
      usage: readUsage(row.usage),
    };
  };
}
