// Reads one execution with its open suspensions, oldest first, its timers, and what its agents used.
import type { DatabaseSync } from "node:sqlite";
import type { StoredExecution } from "../../store.ts";
import { type StoredUsage, sumUsage } from "../../usage.ts";
import {
  integer,
  nullableInteger,
  type Row,
  readUsage,
  toExecution,
  toSuspension,
  toTimer,
} from "../columns.ts";
import { valueAt } from "../journal-rows.ts";

export function state(database: DatabaseSync) {
  const select = database.prepare("select * from executions where execution_id = ?");
  const open = database.prepare(
    "select * from suspensions where execution_id = ? order by suspended_at, suspension_id",
  );
  const timers = database.prepare("select path, due_at from timers where execution_id = ?");
  // Executions of early releases: the index holds only the events that tell of usage, so that no journal is walked.
  const usedBefore = database.prepare(
    `select count(*) as steps,
       coalesce(sum(detail ->> '$.usage.inputTokens'), 0) as input_tokens,
       coalesce(sum(detail ->> '$.usage.outputTokens'), 0) as output_tokens,
       coalesce(sum(detail ->> '$.usage.totalTokens'), 0) as total_tokens,
       coalesce(sum(detail ->> '$.usage.calls'), 0) as calls
     from events indexed by events_with_usage
     where execution_id = ? and step_type = 'andAgent' and type = 'step-complete' and detail is not null`,
  );
  const findValue = valueAt(database);
  const usageOf = (executionId: string, execution: Row): StoredUsage | null => {
    const usage = readUsage(execution.usage);
    const row = usedBefore.get(executionId);
    if (row === undefined || integer(row, "steps") === 0) return usage;
    const before = {
      inputTokens: integer(row, "input_tokens"),
      outputTokens: integer(row, "output_tokens"),
      totalTokens: integer(row, "total_tokens"),
      calls: integer(row, "calls"),
    };
    return sumUsage(usage, before);
  };
  return (executionId: string): StoredExecution | undefined => {
    const row = select.get(executionId);
    if (row === undefined) return undefined;
    const resultAt = nullableInteger(row, "result_at");
    const execution = toExecution(row);
    return {
      execution: resultAt === null ? execution : { ...execution, result: findValue(executionId, resultAt) },
      suspensions: open.all(executionId).map(toSuspension),
      timers: timers.all(executionId).map(toTimer),
      usage: usageOf(executionId, row),
    };
  };
}
