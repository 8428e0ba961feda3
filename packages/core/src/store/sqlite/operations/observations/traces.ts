// Lists traces, newest first, a page at a time; reads one with its spans.
import type { DatabaseSync } from "node:sqlite";
import type { SpanChunk, StoredTrace, TraceQuery, TraceRoot } from "../../../observation-store.ts";
import { integer, nullableInteger, nullableText, type Row, text } from "../../columns.ts";
import { readPage } from "../../read-page.ts";
import { Where } from "./where.ts";

export function traces(database: DatabaseSync) {
  return (query: TraceQuery): TraceRoot[] => {
    const where = new Where()
      .add("entity_id = ?", query.entityId)
      .add("entity_type = ?", query.entityType)
      .add("execution_id = ?", query.executionId)
      .add("user_id = ?", query.userId)
      .add("status = ?", query.status)
      .add("start_at >= ?", query.from)
      .add("start_at < ?", query.to)
      .add("(start_at, root_span_id) < (?, ?)", query.before?.startAt, query.before?.rootSpanId);
    const rows = database
      .prepare(`select * from trace_roots ${where} order by start_at desc, root_span_id desc limit ?`)
      .iterate(...where.values, query.limit);
    return readPage(rows, toRoot, query.length);
  };
}

export function trace(database: DatabaseSync) {
  const roots = database.prepare(
    "select * from trace_roots where trace_id = ? order by start_at, root_span_id limit 1000",
  );
  const chunks = database.prepare("select * from span_chunks where trace_id = ? order by id");
  return (traceId: string): StoredTrace => ({
    roots: readPage(roots.iterate(traceId), toRoot),
    chunks: readPage(chunks.iterate(traceId), toChunk),
  });
}

function toChunk(row: Row): SpanChunk {
  return {
    traceId: text(row, "trace_id"),
    rootSpanId: text(row, "root_span_id"),
    timestamp: integer(row, "timestamp"),
    spans: text(row, "spans"),
  };
}

function toRoot(row: Row): TraceRoot {
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
