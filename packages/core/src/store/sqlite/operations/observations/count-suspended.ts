// Counts the executions that are suspended now, of workflows and of chats.
import type { DatabaseSync } from "node:sqlite";

export function countSuspended(database: DatabaseSync) {
  // Each condition is that of an index: few turns are live at a time.
  const count = database.prepare(
    `select (select count(*) from executions
        where status = 'suspended' and status <> 'running' and kind = 'workflow')
      + (select count(*) from executions indexed by executions_live_turn
        where kind = 'turn' and end_at is null and status = 'suspended') as count`,
  );
  return (): number => Number(count.get()?.count ?? 0);
}
