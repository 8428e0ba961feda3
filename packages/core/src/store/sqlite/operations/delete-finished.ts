// Deletes ended executions with all that belongs to them, oldest end first, a bounded number of rows at a time.
import type { DatabaseSync } from "node:sqlite";
import { readTags } from "../../sql/rows.ts";
import type { DeleteFinished, ExecutionKind } from "../../store.ts";
import { integer, nullableText, text } from "../columns.ts";
import { journalOf } from "../journal-rows.ts";
import { changeEntries } from "./search/change-entries.ts";

export function deleteFinished(database: DatabaseSync) {
  const selectOf = (kind: ExecutionKind) =>
    database.prepare(
      `select execution_id, start_at, tags from executions
       where end_at is not null and kind = '${kind}' and (end_at, execution_id) <= (?, ?)
       order by end_at, execution_id limit ?`,
    );
  const select = { workflow: selectOf("workflow"), turn: selectOf("turn") };
  // From the end: the rest of a journal is always a beginning, and the row goes last.
  const deleteRows = database.prepare(
    `delete from journal where execution = ${journalOf} and sequence in
       (select sequence from journal where execution = ${journalOf} order by sequence desc limit ?)`,
  );
  const deleteSuspensions = database.prepare("delete from suspensions where execution_id = ?");
  const deleteSnapshot = database.prepare("delete from snapshots where execution_id = ?");
  const deleteTimers = database.prepare("delete from timers where execution_id = ?");
  const deleteTag = database.prepare(
    "delete from execution_tags where tag = ? and start_at = ? and execution_id = ?",
  );
  const entries = changeEntries(database);
  const deleteExecution = database.prepare("delete from executions where execution_id = ?");
  return (query: DeleteFinished): { executionIds: string[]; more: boolean } => {
    const { kind = "workflow", upTo, limit, events } = query;
    const found = select[kind].all(upTo.endAt, upTo.executionId, limit);
    const executionIds: string[] = [];
    let left = events;
    for (const row of found) {
      const executionId = text(row, "execution_id");
      executionIds.push(executionId);
      left -= Number(deleteRows.run(executionId, executionId, left).changes);
      // With nothing left to spend the journal may not be empty yet: the next call continues with it.
      if (left <= 0) return { executionIds, more: true };
      deleteSuspensions.run(executionId);
      deleteTimers.run(executionId);
      deleteSnapshot.run(executionId);
      const startAt = integer(row, "start_at");
      for (const tag of readTags(nullableText(row, "tags"))) deleteTag.run(tag, startAt, executionId);
      entries.remove({ executionId, startAt });
      deleteExecution.run(executionId);
    }
    return { executionIds, more: found.length === limit };
  };
}
