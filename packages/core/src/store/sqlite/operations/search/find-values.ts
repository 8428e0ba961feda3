// Finds executions by a scalar of their values or its beginning, newest first, a page at a time.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { candidates, maxEntriesRead, type ReadEntry, rangeOf } from "../../../search/entries.ts";
import type { FoundExecution, SearchQuery, SearchResult } from "../../../search-store.ts";
import type { ListedExecution } from "../../../store.ts";
import { integer, shortColumns, text, toListed } from "../../columns.ts";

export function findValues(database: DatabaseSync) {
  const execution = database.prepare(
    `select ${shortColumns}, error from executions
     where execution_id = ? and workflow_id = coalesce(?, workflow_id) and status = coalesce(?, status)`,
  );
  const own = "search_values indexed by search_values_by_user where user_id = ? and";
  const everyone = "search_values where";

  function* read(source: string, condition: string, values: SQLInputValue[]): Generator<ReadEntry> {
    // In the order of the index: the entries that are read are the first that match, however many there are.
    const rows = database
      .prepare(
        `select value, start_at, execution_id, path from ${source} ${condition}
         order by value, start_at desc, execution_id desc limit ${maxEntriesRead}`,
      )
      .iterate(...values);
    for (const row of rows)
      yield {
        value: text(row, "value"),
        startAt: integer(row, "start_at"),
        executionId: text(row, "execution_id"),
        path: text(row, "path"),
      };
  }

  return (query: SearchQuery): SearchResult<ListedExecution> => {
    const { whole, beginning } = rangeOf(query.text);
    const { userId, before, workflowId = null, status = null, limit } = query;
    const source = userId === undefined ? everyone : own;
    const owner = userId === undefined ? [] : [userId];
    // Whole scalars are in the order of the list: a page continues where the one before has ended.
    const place = before === undefined ? "" : "and (start_at, execution_id) < (?, ?)";
    const after = before === undefined ? [] : [before.startAt, before.executionId];
    const entries = [...read(source, `value = ? ${place}`, [...owner, whole, ...after])];
    let complete = entries.length < maxEntriesRead;
    if (beginning !== undefined) {
      const range = [...owner, beginning.after, beginning.before];
      const longer = [...read(source, "value > ? and value < ?", range)];
      complete &&= longer.length < maxEntriesRead;
      for (const entry of longer) entries.push(entry);
    }
    const found: FoundExecution<ListedExecution>[] = [];
    for (const { executionId, matches } of candidates(entries, query)) {
      const row = execution.get(executionId, workflowId, status);
      if (row === undefined) continue;
      if (found.length === limit) return { found, more: true, complete };
      found.push({ execution: toListed(row), matches });
    }
    return { found, more: false, complete };
  };
}
