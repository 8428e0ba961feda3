// Lists traces, newest first, a page at a time; reads one with its spans.
import {
  maxPageLength,
  type SpanChunk,
  type StoredTrace,
  type TraceQuery,
  type TraceRoot,
} from "@andante/core/store";
import { integer, nullableInteger, nullableText, type Row, text } from "../../columns.ts";
import type { Readers } from "../../connection/readers.ts";
import { readPage } from "../../read-page.ts";
import { Where } from "../../where.ts";

export function traces(readers: Readers, s: string) {
  return async (query: TraceQuery): Promise<TraceRoot[]> => {
    const { statement, values } = tracesStatement(s, query);
    return readPage(await readers.search(statement, values), toRoot, query.length);
  };
}

export function tracesStatement(s: string, query: TraceQuery): { statement: string; values: unknown[] } {
  const { before } = query;
  const where = new Where()
    .add("entity_id = ?", query.entityId)
    .add("entity_type = ?", query.entityType)
    .add("execution_id = ?", query.executionId)
    .add("user_id = ?", query.userId)
    .add("status = ?", query.status)
    .add("start_at >= ?", query.from)
    .add("start_at < ?", query.to)
    .add("(start_at, root_span_id) < (?, ?)", before?.startAt, before?.rootSpanId);
  const limit = where.bind(query.limit);
  const statement = `select * from ${s}.trace_roots ${where} order by start_at desc, root_span_id desc limit ${limit}`;
  return { statement, values: where.values };
}

export function trace(readers: Readers, s: string) {
  const roots = `select * from ${s}.trace_roots where trace_id = $1 order by start_at, root_span_id limit 1000`;
  const chunks = `select * from (
      select *, sum(length(spans)) over (order by id) - length(spans) as before
      from ${s}.span_chunks where trace_id = $1) as measured
    where before < ${maxPageLength} order by id`;
  return async (traceId: string): Promise<StoredTrace> => ({
    roots: readPage(await readers.read(roots, [traceId]), toRoot),
    chunks: readPage(await readers.read(chunks, [traceId]), toChunk),
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
