// Reads one execution with its open suspensions, oldest first, its timers, and the usage of its agents.
import type { StoredExecution } from "@andante/core/store";
import {
  columnsOf,
  nullableInteger,
  type Row,
  readUsage,
  shortColumns,
  text,
  toExecution,
  toSuspension,
  toTimer,
} from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { valueAt } from "./value-at.ts";

const columns = columnsOf("executions", [
  ...shortColumns,
  "input",
  "context",
  "result",
  "result_at",
  "error",
  "usage",
]);

export function state(readers: Readers, s: string) {
  const findValue = valueAt(readers, s);
  // One statement, so that row, suspensions and timers are of one moment.
  const select = `select ${columns},
      (select coalesce(json_agg(suspensions order by suspended_at, suspension_id), '[]')::text
       from ${s}.suspensions where suspensions.execution_id = executions.execution_id) as suspensions,
      (select coalesce(json_agg(timers order by path), '[]')::text
       from ${s}.timers where timers.execution_id = executions.execution_id) as timers
    from ${s}.executions where execution_id = $1`;
  return async (executionId: string): Promise<StoredExecution | undefined> => {
    const [row] = await readers.read(select, [executionId]);
    if (row === undefined) return undefined;
    const resultAt = nullableInteger(row, "result_at");
    const execution = toExecution(row);
    return {
      execution:
        resultAt === null ? execution : { ...execution, result: await findValue(executionId, resultAt) },
      suspensions: rowsIn(row, "suspensions").map(toSuspension),
      timers: rowsIn(row, "timers").map(toTimer),
      usage: readUsage(row.usage),
    };
  };
}

function rowsIn(row: Row, column: string): readonly Row[] {
  const rows: unknown = JSON.parse(text(row, column));
  if (Array.isArray(rows)) return rows;
  throw new TypeError(`column ${column} is not a list`);
}
