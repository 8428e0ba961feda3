// Removes the oldest log lines and traces beyond their bounds, a bounded number at a time.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Trim } from "../../../observation-store.ts";
import { text } from "../../columns.ts";

export function trim(database: DatabaseSync) {
  const oldLogs = database.prepare(
    "delete from logs where id in (select id from logs where id < ? order by id limit ?)",
  );
  const countLogs = database.prepare("select count(*) as count from logs");
  const firstLogs = database.prepare(
    "delete from logs where id in (select id from logs order by id limit ?)",
  );
  const oldRoots = database.prepare(
    "select trace_id, root_span_id from trace_roots where start_at < ? order by start_at limit ?",
  );
  const countRoots = database.prepare("select count(*) as count from trace_roots");
  const firstRoots = database.prepare(
    "select trace_id, root_span_id from trace_roots order by start_at, root_span_id limit ?",
  );
  const dropRoot = database.prepare("delete from trace_roots where trace_id = ? and root_span_id = ?");
  const dropSpans = database.prepare("delete from span_chunks where trace_id = ? and root_span_id = ?");
  // Spans whose root was removed before they were written.
  const oldSpans = database.prepare(
    `delete from span_chunks where id in (select id from span_chunks where timestamp < ?
       and not exists (select 1 from trace_roots where trace_roots.trace_id = span_chunks.trace_id
         and trace_roots.root_span_id = span_chunks.root_span_id) limit ?)`,
  );
  return ({ logs, traces, limit }: Trim): number => {
    let removed = Number(oldLogs.run(logs.before, limit).changes);
    const tooMany = Math.min(limit, countOf(countLogs) - logs.count);
    if (tooMany > 0) removed += Number(firstLogs.run(tooMany).changes);
    const roots = oldRoots.all(traces.before, limit);
    const beyond = Math.min(limit, countOf(countRoots) - roots.length - traces.count);
    if (roots.length === 0 && beyond > 0) roots.push(...firstRoots.all(beyond));
    for (const row of roots) {
      const key = [text(row, "trace_id"), text(row, "root_span_id")];
      dropRoot.run(...key);
      dropSpans.run(...key);
    }
    removed += roots.length + Number(oldSpans.run(traces.before, limit).changes);
    return removed;
  };
}

function countOf(statement: StatementSync): number {
  return Number(statement.get()?.count ?? 0);
}
