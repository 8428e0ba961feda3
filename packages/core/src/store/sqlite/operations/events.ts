// Reads the events of one journal after a number, in order.
import type { DatabaseSync } from "node:sqlite";
import type { JournalEvent } from "../../store.ts";
import { toEvent } from "../columns.ts";

export function events(database: DatabaseSync) {
  const select = database.prepare(
    "select * from events where execution_id = ? and sequence > ? order by sequence limit ?",
  );
  return (query: { executionId: string; after: number; limit: number }): JournalEvent[] =>
    select.all(query.executionId, query.after, query.limit).map(toEvent);
}
