// Releases a claim with the work undone.
import type { DatabaseSync } from "node:sqlite";

export function release(database: DatabaseSync) {
  const update = database.prepare(
    "update executions set owner = null, token = null where execution_id = ? and token = ?",
  );
  return ({ executionId, token }: { executionId: string; token: string }): void => {
    update.run(executionId, token);
  };
}
