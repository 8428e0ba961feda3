// Releases a claim and parks the execution: no process claims it until it is unparked or resumed.
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
