// Removes the oldest log lines and traces beyond their bounds, a bounded number at a time.
import type { KeepCounts, KeepFrom, Trim } from "@andante/core/store";
import { integer } from "../../columns.ts";
import type { Readers } from "../../connection/readers.ts";

export function trim(readers: Readers, s: string) {
  // Rows that another node removes at the same time are passed over.
  const dropLogs = `delete from ${s}.logs using (
      select id, node from ${s}.logs where id < $1 order by id limit $2 for update skip locked) as old
    where logs.id = old.id and logs.node = old.node`;
  const dropRoots = `with old as (
      select trace_id, root_span_id from ${s}.trace_roots where start_at < $1 order by start_at limit $2
      for update skip locked),
    spans as (
      delete from ${s}.span_chunks using old
      where span_chunks.trace_id = old.trace_id and span_chunks.root_span_id = old.root_span_id)
    delete from ${s}.trace_roots using old
    where trace_roots.trace_id = old.trace_id and trace_roots.root_span_id = old.root_span_id`;
  // Spans whose root was removed before they were written, or that belong to an execution.
  const dropSpans = `delete from ${s}.span_chunks using (
      select id from ${s}.span_chunks where timestamp < $1 order by timestamp limit $2 for update skip locked) as old
    where span_chunks.id = old.id`;
  return ({ logs, traces, limit }: Trim): Promise<number> =>
    readers.write("trimObservations", async (query) => {
      const lines = await query(dropLogs, [logs, limit], "planned");
      const roots = await query(dropRoots, [traces, limit], "planned");
      const spans = await query(dropSpans, [traces, limit], "planned");
      return lines.count + roots.count + spans.count;
    });
}

export function keepFrom(readers: Readers, s: string) {
  const log = `select id from ${s}.logs order by id desc limit 1 offset $1`;
  const root = `select start_at from ${s}.trace_roots order by start_at desc limit 1 offset $1`;
  return async (counts: KeepCounts): Promise<KeepFrom> => {
    const [line] = await readers.search(log, [Math.max(0, counts.logs - 1)]);
    const [trace] = await readers.search(root, [Math.max(0, counts.traces - 1)]);
    return {
      logs: line === undefined ? 0 : integer(line, "id"),
      traces: trace === undefined ? 0 : integer(trace, "start_at"),
    };
  };
}
