// Lets the executions of a workflow be claimed again that were parked under another definition.
import type { DatabaseSync } from "node:sqlite";

export function unpark(database: DatabaseSync) {
  const update = database.prepare(
    `update executions set parked = null, parked_under = null
     where parked is not null and workflow_id = ? and parked_under is not ?`,
  );
  return ({ workflowId, definition }: { workflowId: string; definition: string }): void => {
    update.run(workflowId, definition);
  };
}
