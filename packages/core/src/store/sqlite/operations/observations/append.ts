// Adds log lines, trace roots and spans.
import type { DatabaseSync } from "node:sqlite";
import type { ObservationBatch } from "../../../observation-store.ts";

export function append(database: DatabaseSync) {
  const addLog = database.prepare(
    `insert into logs (id, timestamp, level, workflow_id, execution_id, agent_id, conversation_id, user_id,
       record)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`,
  );
  const setRoot = database.prepare(
    `insert into trace_roots (trace_id, root_span_id, entity_type, entity_id, execution_id, user_id, conversation_id,
       start_at, end_at, status)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (trace_id, root_span_id) do update set end_at = excluded.end_at, status = excluded.status`,
  );
  const addChunk = database.prepare(
    "insert into span_chunks (trace_id, root_span_id, timestamp, spans) values (?, ?, ?, ?)",
  );
  return ({ logs, roots, chunks }: ObservationBatch): void => {
    for (const log of logs) {
      const { id, timestamp, level, workflowId, executionId, agentId, conversationId, userId, record } = log;
      addLog.run(id, timestamp, level, workflowId, executionId, agentId, conversationId, userId, record);
    }
    for (const root of roots) {
      const { traceId, rootSpanId, entityType, entityId, executionId, userId, conversationId } = root;
      const { startAt, endAt, status } = root;
      const entity = [entityType, entityId, executionId, userId, conversationId];
      setRoot.run(traceId, rootSpanId, ...entity, startAt, endAt, status);
    }
    for (const chunk of chunks) addChunk.run(chunk.traceId, chunk.rootSpanId, chunk.timestamp, chunk.spans);
  };
}
