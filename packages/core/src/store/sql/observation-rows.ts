// Rows of logs and traces as the contract names them, in any SQL database.
import type { SpanChunk, StoredLog, TraceRoot } from "../observation-store.ts";
import { integer, nullableInteger, nullableText, type Row, text } from "./columns.ts";

export function toLog(row: Row): StoredLog {
  return {
    id: integer(row, "id"),
    timestamp: integer(row, "timestamp"),
    level: integer(row, "level"),
    workflowId: nullableText(row, "workflow_id"),
    executionId: nullableText(row, "execution_id"),
    agentId: nullableText(row, "agent_id"),
    conversationId: nullableText(row, "conversation_id"),
    userId: nullableText(row, "user_id"),
    record: text(row, "record"),
  };
}

export function toChunk(row: Row): SpanChunk {
  return {
    traceId: text(row, "trace_id"),
    rootSpanId: text(row, "root_span_id"),
    timestamp: integer(row, "timestamp"),
    spans: text(row, "spans"),
  };
}

export function toRoot(row: Row): TraceRoot {
  return {
    traceId: text(row, "trace_id"),
    rootSpanId: text(row, "root_span_id"),
    entityType: text(row, "entity_type") === "agent" ? "agent" : "workflow",
    entityId: text(row, "entity_id"),
    executionId: nullableText(row, "execution_id"),
    userId: nullableText(row, "user_id"),
    conversationId: nullableText(row, "conversation_id"),
    startAt: integer(row, "start_at"),
    endAt: nullableInteger(row, "end_at"),
    status: text(row, "status"),
  };
}
