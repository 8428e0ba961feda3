// Removes the oldest log lines and traces beyond their bounds, a bounded number at a time.
import type { DatabaseSync } from "node:sqlite";
import type { KeepCounts, KeepFrom, Trim } from "../../../observation-store.ts";
import { integer, text } from "../../columns.ts";

export function trim(database: DatabaseSync) {
  const dropLogs = database.prepare(
    "delete from logs where id in (select id from logs where id < ? order by id limit ?)",
  );
  const oldRoots = database.prepare(
    "select trace_id, root_span_id from trace_roots where start_at < ? order by start_at limit ?",
  );
  const dropRoot = database.prepare("delete from trace_roots where trace_id = ? and root_span_id = ?");
  const dropSpans = database.prepare("delete from span_chunks where trace_id = ? and root_span_id = ?");
  // Spans whose root was removed before they were written, or that belong to an execution.
  const oldSpans = database.prepare(
    `delete from span_chunks where id in
       (select id from span_chunks where timestamp < ? order by timestamp limit ?)`,
  );
  return ({ logs, traces, limit }: Trim): number => {
    let removed = Number(dropLogs.run(logs, limit).changes);
    const roots = oldRoots.all(traces, limit);
    for (const row of roots) {
      const key = [text(row, "trace_id"), text(row, "root_span_id")];
      dropRoot.run(...key);
      dropSpans.run(...key);
    }
    removed += roots.length + Number(oldSpans.run(traces, limit).changes);
    return removed;
  };
}

export function keepFrom(database: DatabaseSync) {
  const log = database.prepare("select id from logs order by id desc limit 1 offset ?");
  const root = database.prepare("select start_at from trace_roots order by start_at desc limit 1 offset ?");
  return (counts: KeepCounts): KeepFrom => {
    const line = log.get(Math.max(0, counts.logs - 1));
    const trace = root.get(Math.max(0, counts.traces - 1));
    return {
      logs: line === undefined ? 0 : integer(line, "id"),
      traces: trace === undefined ? 0 : integer(trace, "start_at"),
    };
  };
}
