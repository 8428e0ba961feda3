// Lists executions, newest first, a page at a time.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { ListedExecution, ListQuery } from "../../store.ts";
import { shortColumns, toListed } from "../columns.ts";
import { readPage } from "../read-page.ts";

export function list(database: DatabaseSync) {
  return (query: ListQuery): ListedExecution[] => {
    const conditions: string[] = [];
    const values: SQLInputValue[] = [];
    const where = (condition: string, ...bound: SQLInputValue[]) => {
      conditions.push(condition);
      values.push(...bound);
    };
    if (query.workflowId !== undefined) where("workflow_id = ?", query.workflowId);
    if (query.status !== undefined) where("status = ?", query.status);
    if (query.userId !== undefined) where("user_id = ?", query.userId);
    // The tags stand in the order of the list, so that a page of one is read off its index.
    if (query.tag !== undefined) where("tag = ?", query.tag);
    const source =
      query.tag === undefined
        ? "executions"
        : "execution_tags join executions using (start_at, execution_id)";
    if (query.from !== undefined) where("start_at >= ?", query.from);
    if (query.to !== undefined) where("start_at < ?", query.to);
    // A range, not LIKE: an id may contain % and _, and the primary key serves it.
    if (query.idPrefix !== undefined) {
      where("execution_id >= ? and execution_id < ?", query.idPrefix, `${query.idPrefix}\u{10ffff}`);
    }
    if (query.before !== undefined) {
      where("(start_at, execution_id) < (?, ?)", query.before.startAt, query.before.executionId);
    }
    const filter = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
    // Only what a list shows: inputs and results may be megabytes each.
    const columns = `${shortColumns}, error`;
    const statement = `select ${columns} from ${source} ${filter} order by start_at desc, execution_id desc limit ?`;
    const rows = database.prepare(statement).iterate(...values, query.limit);
    return readPage(rows, toListed, query.length);
  };
}
