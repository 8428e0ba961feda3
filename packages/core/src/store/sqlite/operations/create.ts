// Creates an execution with its first events, owned by its creator.
import type { DatabaseSync } from "node:sqlite";
import type { NewExecution } from "../../store.ts";
import { appendEvents } from "../journal-rows.ts";
import { SearchFrontier } from "../search-frontier.ts";

export function create(database: DatabaseSync, search = new SearchFrontier(database)) {
  const append = appendEvents(database);
  const insert = database.prepare(
    `insert into executions (execution_id, workflow_id, status, input, context, user_id, conversation_id, start_at,
       timeout_at, sequence, owner, token, tags, definition, replay_of, replay_step, step_index, resumes,
       usage, trace, links)
     values (?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (execution_id) do nothing`,
  );
  const isRepeated = database.prepare("select 1 from executions where execution_id = ? and token = ?");
  const insertTag = database.prepare(
    "insert into execution_tags (tag, start_at, execution_id) values (?, ?, ?)",
  );
  return (execution: NewExecution): { created: boolean } => {
    const { executionId, startAt, events, claim, tags = [], replay } = execution;
    const { changes } = insert.run(
      executionId,
      execution.workflowId,
      execution.input,
      execution.context,
      execution.userId,
      execution.conversationId,
      startAt,
      execution.timeoutAt,
      events.length,
      claim.owner,
      claim.token,
      tags.length === 0 ? null : JSON.stringify(tags),
      execution.definition ?? null,
      replay?.of.executionId ?? null,
      replay?.of.stepId ?? null,
      replay?.stepIndex ?? 0,
      replay?.resumes ?? 0,
      execution.usage ? JSON.stringify(execution.usage) : null,
      execution.trace ?? null,
      execution.links ?? null,
    );
    // The same call again, because the reply to the first was lost: its creator holds the claim still.
    if (changes === 0) return { created: isRepeated.get(executionId, claim.token) !== undefined };
    for (const tag of tags) insertTag.run(tag, startAt, executionId);
    append(executionId, 0, events);
    search.joins("start", startAt);
    return { created: true };
  };
}
