// Lists traces, newest first, a page at a time; reads one with its spans.
import { readPage, toChunk, toRoot } from "@andante/core/internal";
import { maxPageLength, type StoredTrace, type TraceQuery, type TraceRoot } from "@andante/core/store";
import type { Readers } from "../../connection/readers.ts";
import { Where } from "../../where.ts";

const rootColumns =
  "trace_id, root_span_id, entity_type, entity_id, execution_id, user_id, conversation_id, start_at, end_at, status";

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
  const statement = `select ${rootColumns} from ${s}.trace_roots ${where} order by start_at desc, root_span_id desc limit ${limit}`;
  return { statement, values: where.values };
}

/** The newest from a time on ($1) that another node than $2 wrote, $3 at most, and no more than a page holds. */
export function spansElsewhereStatement(s: string): string {
  return `select * from (
      select *, sum(octet_length(spans)) over (order by timestamp desc, id desc) - octet_length(spans) as before from (
        select id, trace_id, root_span_id, timestamp, spans from ${s}.span_chunks
        where timestamp >= $1 and node is distinct from $2 order by timestamp desc, id desc limit $3) as newest) as measured
    where before < ${maxPageLength} order by timestamp desc, id desc`;
}

/** `node`: whose spans are left out. */
export function spansElsewhere(readers: Readers, s: string, node: string) {
  const select = spansElsewhereStatement(s);
  return async ({ from, limit }: { readonly from: number; readonly limit: number }) => {
    const rows = await readers.read(select, [from, node, limit]);
    return readPage(rows, (row) => ({ ...toChunk(row), id: String(row.id) })).reverse();
  };
}

export function trace(readers: Readers, s: string) {
  const roots = `select ${rootColumns} from ${s}.trace_roots where trace_id = $1 order by start_at, root_span_id limit 1000`;
  const chunks = `select * from (
      select id, trace_id, root_span_id, timestamp, spans, sum(length(spans)) over (order by id) - length(spans) as before
      from ${s}.span_chunks where trace_id = $1) as measured
    where before < ${maxPageLength} order by id`;
  return async (traceId: string): Promise<StoredTrace> => ({
    roots: readPage(await readers.read(roots, [traceId]), toRoot),
    chunks: readPage(await readers.read(chunks, [traceId]), toChunk),
  });
}
