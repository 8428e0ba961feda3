// Lets the executions of a workflow be claimed again that were parked under another definition.
import type { DatabaseSync } from "node:sqlite";

export function unpark(database: DatabaseSync) {
  const update = database.prepare(
    `update executions set parked = null, parked_under = null
     where parked is not null and workflow_id = ? and parked_under is not ? and (definition = ? or not ?)`,
  );
  return (argument: { workflowId: string; definition: string; own?: boolean }): void => {
    const { workflowId, definition, own = false } = argument;
    update.run(workflowId, definition, definition, own ? 1 : 0);
  };
}
