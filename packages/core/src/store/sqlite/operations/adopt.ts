// Notes that the owner of an execution continues with another definition.
import type { DatabaseSync } from "node:sqlite";

export function adopt(database: DatabaseSync) {
  const update = database.prepare(
    "update executions set definition = ? where execution_id = ? and token = ?",
  );
  return (argument: { executionId: string; token: string; definition: string }): void => {
    const { executionId, token, definition } = argument;
    update.run(definition, executionId, token);
  };
}
