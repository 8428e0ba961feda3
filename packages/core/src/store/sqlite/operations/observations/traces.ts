// Lists traces, newest first, a page at a time; reads one with its spans.
import type { DatabaseSync } from "node:sqlite";
import type { StoredTrace, TraceQuery, TraceRoot } from "../../../observation-store.ts";
import { toChunk, toRoot } from "../../../sql/observation-rows.ts";
import { readPage } from "../../../sql/read-page.ts";
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
