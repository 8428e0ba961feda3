// Creates executions with their first events, each owned by its creator.

import { type NewExecution, rowText } from "@andante/core/store";
import { text } from "../columns.ts";
import type { Query, Result } from "../connection/client.ts";
import type { Statement } from "../connection/parameters.ts";

const columns: readonly (readonly [column: string, type: string])[] = [
  ["execution_id", "text"],
  ["workflow_id", "text"],
  ["input", "text"],
  ["context", "text"],
  ["user_id", "text"],
  ["conversation_id", "text"],
  ["start_at", "bigint"],
  ["timeout_at", "bigint"],
  ["sequence", "bigint"],
  ["owner", "text"],
  ["token", "text"],
  ["tags", "text"],
  ["definition", "text"],
  ["replay_of", "text"],
  ["replay_step", "text"],
  ["step_index", "integer"],
  ["resumes", "integer"],
  ["usage", "text"],
  ["trace", "text"],
  ["links", "text"],
];

function valuesOf(execution: NewExecution): unknown[] {
  const { claim, tags = [], replay, usage } = execution;
  return [
    execution.executionId,
    execution.workflowId,
    execution.input,
    execution.context,
    execution.userId,
    execution.conversationId,
    execution.startAt,
    execution.timeoutAt,
    execution.events.length,
    claim.owner,
    claim.token,
    tags.length === 0 ? null : JSON.stringify(tags),
    execution.definition ?? null,
    replay?.of.executionId ?? null,
    replay?.of.stepId ?? null,
    replay?.stepIndex ?? 0,
    replay?.resumes ?? 0,
    usage ? JSON.stringify(usage) : null,
    execution.trace ?? null,
    execution.links ?? null,
  ];
}

/** Inserts them, in the order of their ids; those that exist already are left as they are. `idsIn` returns the created ones. */
export function createStatement(s: string, executions: readonly NewExecution[]): Statement {
  const names = columns.map(([name]) => name).join(", ");
  const arrays = columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ");
  const rows = executions.map(valuesOf);
  const byColumn = columns.map((_, index) => rows.map((row) => row[index]));
  const journals = executions.map(({ events }) => (events.length === 0 ? null : rowText(0, events)));
  const values: unknown[] = [...byColumn, journals];
  const tags = executions.flatMap(({ executionId, startAt, tags: each = [] }) =>
    each.map((tag) => ({ tag, startAt, executionId })),
  );
  if (tags.length > 0)
    values.push(
      tags.map(({ tag }) => tag),
      tags.map(({ startAt }) => startAt),
      tags.map(({ executionId }) => executionId),
    );
  const next = columns.length + 2;
  const tagged = `,
    tagged as (
      insert into ${s}.execution_tags (tag, start_at, execution_id)
      select tag, start_at, execution_id
      from unnest($${next}::text[], $${next + 1}::bigint[], $${next + 2}::text[]) as tagged (tag, start_at, execution_id)
      join made using (execution_id) on conflict do nothing)`;
  const statement = `with given as (
      select * from unnest(${arrays}, $${columns.length + 1}::text[]) as given (${names}, events)),
    made as (
      insert into ${s}.executions (kind, status, ${names}) select 'workflow', 'running', ${names} from given
      on conflict (execution_id) do nothing returning execution_id),
    begun as (
      insert into ${s}.journal (execution_id, sequence, events)
      select execution_id, sequence, events from given join made using (execution_id)
      where events is not null),
    queued as (insert into ${s}.search_queue (execution_id) select execution_id from made)${tags.length > 0 ? tagged : ""}
    select execution_id from made`;
  return [statement, values];
}

/** The executions in the rows of a statement. */
export function idsIn({ rows }: Pick<Result, "rows">): ReadonlySet<string> {
  return new Set(rows.map((row) => text(row, "execution_id")));
}

/** Which of these executions hold the token of their creator: the same call again, because its result was lost. */
export async function createdBefore(
  query: Query,
  s: string,
  executions: readonly NewExecution[],
): Promise<ReadonlySet<string>> {
  const found = await query(
    `select execution_id from ${s}.executions join unnest($1::text[], $2::text[]) as given (execution_id, token)
     using (execution_id, token)`,
    [executions.map((each) => each.executionId), executions.map((each) => each.claim.token)],
  );
  return idsIn(found);
}
