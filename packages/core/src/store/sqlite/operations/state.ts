// Reads one execution with its open suspensions, oldest first, its timers, and what its agents used.
import type { DatabaseSync } from "node:sqlite";
import type { StoredUsage } from "../../conversation-store.ts";
import type { StoredExecution } from "../../store.ts";
import { integer, toExecution, toSuspension, toTimer } from "../columns.ts";

export function state(database: DatabaseSync) {
  const select = database.prepare("select * from executions where execution_id = ?");
  const open = database.prepare(
    "select * from suspensions where execution_id = ? order by suspended_at, suspension_id",
  );
  const timers = database.prepare("select path, due_at from timers where execution_id = ?");
  // The conditions are those of the index, which holds only such events: most executions have none.
  const used = database.prepare(
    `select count(*) as steps,
       coalesce(sum(detail ->> '$.usage.inputTokens'), 0) as input_tokens,
       coalesce(sum(detail ->> '$.usage.outputTokens'), 0) as output_tokens,
       coalesce(sum(detail ->> '$.usage.totalTokens'), 0) as total_tokens,
       coalesce(sum(detail ->> '$.usage.calls'), 0) as calls
     from events
     where execution_id = ? and step_type = 'andAgent' and type = 'step-complete' and detail is not null`,
  );
  const usageOf = (executionId: string): StoredUsage | null => {
    const row = used.get(executionId);
    if (row === undefined || integer(row, "steps") === 0) return null;
    return {
      inputTokens: integer(row, "input_tokens"),
      outputTokens: integer(row, "output_tokens"),
      totalTokens: integer(row, "total_tokens"),
      calls: integer(row, "calls"),
    };
  };
  return (executionId: string): StoredExecution | undefined => {
    const row = select.get(executionId);
    if (row === undefined) return undefined;
    return {
      execution: toExecution(row),
      suspensions: open.all(executionId).map(toSuspension),
      timers: timers.all(executionId).map(toTimer),
      usage: usageOf(executionId),
    };
  };
}
