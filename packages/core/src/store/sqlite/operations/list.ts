// Lists executions, newest first, a page at a time.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { readPage } from "../../sql/read-page.ts";
import type { ListedExecution, ListQuery } from "../../store.ts";
import { shortColumns, toListed } from "../columns.ts";

const columns = `${shortColumns}, error`.replaceAll(/\w+/g, "executions.$&");

export function list(database: DatabaseSync) {
  return (query: ListQuery): ListedExecution[] => {
    const { idPrefix, before, limit } = query;
    const conditions = ["kind = 'workflow'"];
    const values: SQLInputValue[] = [];
    const where = (condition: string, ...bound: SQLInputValue[]) => {
      conditions.push(condition);
      values.push(...bound);
    };
    const amongOwn = isReadAmongOwn(query);
    const byTag = query.tag !== undefined && !amongOwn;
    // The index of ids is in the order of ids, so a list of those that begin alike is, too: by their start all of them
    // would have to be sorted for each page.
    const byId = idPrefix !== undefined && query.tag === undefined && !amongOwn;
    if (query.tag !== undefined) where(byTag ? "tag = ?" : isTagged, query.tag);
    if (query.workflowId !== undefined) where("workflow_id = ?", query.workflowId);
    if (query.userId !== undefined) where("user_id = ?", query.userId);
    if (query.status === "running") where("status = 'running'");
    // The second condition is the index's own: it is used only where the statement repeats it.
    else if (query.status !== undefined) where("status = ? and status <> 'running'", query.status);
    if (query.executionId !== undefined) where("executions.execution_id = ?", query.executionId);
    if (query.traced) where("trace is not null");
    if (query.traceId !== undefined) where("trace = ? and trace <> ''", query.traceId);
    if (query.replayOf !== undefined) where("replay_of = ?", query.replayOf);
    if (query.parked) where("parked is not null");
    const table = byTag ? "execution_tags" : "executions";
    const startAt = `${table}.start_at`;
    const executionId = `${table}.execution_id`;
    if (query.from !== undefined) where(`${startAt} >= ?`, query.from);
    if (query.to !== undefined) where(`${startAt} < ?`, query.to);
    // A range, not LIKE: an id may contain % and _, and the primary key serves it.
    if (idPrefix !== undefined)
      where(`${executionId} >= ? and ${executionId} < ?`, idPrefix, `${idPrefix}\u{10ffff}`);
    if (before !== undefined && byId) where(`${executionId} < ?`, before.executionId);
    else if (before !== undefined)
      where(`(${startAt}, ${executionId}) < (?, ?)`, before.startAt, before.executionId);
    const filter = `where ${conditions.join(" and ")}`;
    const order = byId ? `${executionId} desc` : `${startAt} desc, ${executionId} desc`;
    // Only the columns of a list: inputs and results may be megabytes each.
    const statement = `select ${columns} from ${sourceOf(query)} ${filter} order by ${order} limit ?`;
    return readPage(database.prepare(statement).iterate(...values, limit), toListed, query.length);
  };
}

const isTagged = `exists (select 1 from execution_tags as tags
  where tags.tag = ? and tags.start_at = executions.start_at and tags.execution_id = executions.execution_id)`;

/** Characters of a generated id that two share only when they were made in the same millisecond. */
const sameMillisecond = 13;

/**
 * Whether a page is read off the index of a user: rows of others, with a tag or similar ids, must not make
 * the list of one that has little any slower.
 */
function isReadAmongOwn({ userId, idPrefix = "", executionId, traceId, replayOf }: ListQuery): boolean {
  const isOne = executionId !== undefined || traceId !== undefined || replayOf !== undefined;
  return userId !== undefined && !isOne && idPrefix.length < sameMillisecond;
}

/**
 * The index that a page is read off in order: that of the filter which leaves the fewest. The planner, left to itself,
 * reads everything that fits one filter and sorts it.
 */
function sourceOf(query: ListQuery): string {
  const { tag, idPrefix, status, workflowId, executionId, traceId, replayOf, parked } = query;
  if (isReadAmongOwn(query)) return "executions indexed by executions_by_user";
  if (tag !== undefined) return "execution_tags cross join executions using (start_at, execution_id)";
  if (idPrefix !== undefined || executionId !== undefined)
    return "executions indexed by sqlite_autoindex_executions_1";
  if (traceId !== undefined) return "executions indexed by executions_by_trace";
  if (replayOf !== undefined) return "executions indexed by executions_by_replay";
  if (parked) return `executions indexed by executions_parked${workflowId === undefined ? "_by_start" : ""}`;
  if (status === "running") return "executions indexed by executions_running";
  // Most have completed, so of one workflow those are found sooner among its own.
  const isRare = status !== undefined && !(status === "completed" && workflowId !== undefined);
  if (isRare) return "executions indexed by executions_by_status";
  if (workflowId !== undefined) return "executions indexed by executions_by_workflow";
  return "executions indexed by executions_by_start";
}
