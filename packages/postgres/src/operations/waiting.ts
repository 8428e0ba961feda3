// Lists open suspensions of workflows and turns, oldest first, a page at a time; pauses and waits for other executions are left out.
import { readPage } from "@andante/core/internal";
import { type WaitingQuery, type WaitingSuspension, waitsForPerson } from "@andante/core/store";
import { toWaiting } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { Where } from "../where.ts";

export function waiting(readers: Readers, s: string) {
  return async (query: WaitingQuery): Promise<WaitingSuspension[]> => {
    const { statement, values } = waitingStatement(s, query);
    return readPage(await readers.search(statement, values), toWaiting, query.length);
  };
}

export function waitingStatement(s: string, query: WaitingQuery): { statement: string; values: unknown[] } {
  const { after } = query;
  const where = new Where()
    .add(waitsForPerson)
    // The second condition is the index's own: it is used only where the statement repeats it.
    .add("user_id = ? and status = 'suspended'", query.userId)
    .add("workflow_id = ?", query.workflowId)
    .add("agent_id = ?", query.agentId)
    .add("(suspended_at, suspension_id) > (?, ?)", after?.suspendedAt, after?.suspensionId)
    .add("suspension_id = any(?)", query.suspensionIds);
  const limit = where.bind(query.limit);
  const statement = `select ${query.brief ? briefColumns : "suspensions.*"}, workflow_id, agent_id, user_id, conversation_id, start_at
    from ${s}.suspensions join ${s}.executions on executions.execution_id = suspensions.execution_id
    ${where} order by suspended_at, suspension_id limit ${limit}`;
  return { statement, values: where.values };
}

/** The reason is a JSON string. */
const briefColumns = `suspension_id, suspensions.execution_id, path, suspensions.step_index, '""' as reason, null as data,
  suspended_at, deadline, null as on_deadline, null as resume_schema, awaits, recipient`;
