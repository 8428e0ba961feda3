// Counts the executions that are suspended now.
import type { DatabaseSync } from "node:sqlite";

export function countSuspended(database: DatabaseSync) {
  const count = database.prepare(
    "select count(*) as count from executions where status = 'suspended' and status <> 'running' and kind = 'workflow'",
  );
  return (): number => Number(count.get()?.count ?? 0);
}
