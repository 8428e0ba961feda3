// Creates an execution with its first events, owned by its creator.
import type { DatabaseSync } from "node:sqlite";
import type { NewExecution } from "../../store.ts";
import { appendEvents } from "./append-events.ts";

export function create(database: DatabaseSync) {
  const append = appendEvents(database);
  const insert = database.prepare(
    `insert into executions (execution_id, workflow_id, status, input, context, user_id, conversation_id, start_at,
       timeout_at, sequence, owner, token)
     values (?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (execution_id) do nothing`,
  );
  return (execution: NewExecution): { created: boolean } => {
    const { executionId, events, claim } = execution;
    const { changes } = insert.run(
      executionId,
      execution.workflowId,
      execution.input,
      execution.context,
      execution.userId,
      execution.conversationId,
      execution.startAt,
      execution.timeoutAt,
      events.length,
      claim.owner,
      claim.token,
    );
    if (changes === 0) return { created: false };
    append(executionId, 0, events);
    return { created: true };
  };
}
