// Releases a claim because the definition does not fit: nobody claims the execution until it is unparked.
import type { DatabaseSync } from "node:sqlite";

export function park(database: DatabaseSync) {
  const update = database.prepare(
    `update executions set owner = null, token = null, parked = ?, parked_under = ?
     where execution_id = ? and token = ? and end_at is null`,
  );
  return (argument: { executionId: string; token: string; reason: string; definition: string }): void => {
    const { executionId, token, reason, definition } = argument;
    update.run(reason, definition, executionId, token);
  };
}
