// Lists executions, newest first, a page at a time.
import { readPage } from "@andante/core/internal";
import type { ListedExecution, ListQuery } from "@andante/core/store";
import { columnsOf, shortColumns, toListed } from "../columns.ts";
import type { Readers } from "../connection/readers.ts";
import { Where } from "../where.ts";

const columns = columnsOf("executions", [...shortColumns, "error"]);

export function list(readers: Readers, s: string) {
  return async (query: ListQuery): Promise<ListedExecution[]> => {
    const { statement, values } = listStatement(s, query);
    return readPage(await readers.search(statement, values), toListed, query.length);
  };
}

export function listStatement(s: string, query: ListQuery): { statement: string; values: unknown[] } {
  const { tag, idPrefix, before, status } = query;
  // The index of ids is in the order of ids, so a list of those that begin alike is, too: by their start all of them
  // would have to be sorted for each page.
  const byId = idPrefix !== undefined && tag === undefined;
  const table = tag === undefined ? "executions" : "execution_tags";
  const startAt = `${table}.start_at`;
  const executionId = `${table}.execution_id`;
  const where = new Where()
    .add("kind = 'workflow'")
    .add("tag = ?", tag)
    .add("workflow_id = ?", query.workflowId)
    .add("user_id = ?", query.userId)
    .add("executions.execution_id = ?", query.executionId)
    .add("trace = ? and trace <> ''", query.traceId)
    .add("replay_of = ?", query.replayOf)
    .add(`${startAt} >= ?`, query.from)
    .add(`${startAt} < ?`, query.to)
    // A range, not LIKE: an id may contain % and _, and the primary key serves it.
    .add(
      `${executionId} >= ? and ${executionId} < ?`,
      idPrefix,
      idPrefix === undefined ? undefined : `${idPrefix}\u{10ffff}`,
    );
  if (status === "running") where.add("status = 'running'");
  // The second condition is the index's own: it is used only where the statement repeats it.
  else where.add("status = ? and status <> 'running'", status);
  if (query.traced) where.add("trace is not null");
  if (query.parked) where.add("parked is not null");
  if (byId) where.add(`${executionId} < ?`, before?.executionId);
  else where.add(`(${startAt}, ${executionId}) < (?, ?)`, before?.startAt, before?.executionId);
  const source =
    tag === undefined
      ? `${s}.executions`
      : `${s}.execution_tags join ${s}.executions on executions.execution_id = execution_tags.execution_id`;
  const order = byId ? `${executionId} desc` : `${startAt} desc, ${executionId} desc`;
  const limit = where.bind(query.limit);
  // Only the columns of a list: inputs and results may have megabytes each.
  const statement = `select ${columns} from ${source} ${where} order by ${order} limit ${limit}`;
  return { statement, values: where.values };
}
